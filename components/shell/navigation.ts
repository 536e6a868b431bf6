import type { IconName } from "@/components/ui/icon";

export type NavItem = {
  href: string;
  name: string;
  icon: IconName;
  /** Which number stands at its right; see `useNavCounts`. */
  counter?: "openFailures" | "unreadFailures" | "waitingForMe";
  /** Key after `g`. */
  key: string;
  /** Pages that belong to it under another address. */
  also?: readonly string[];
};

export type NavGroup = { name: string | null; items: readonly NavItem[] };

/** Every area of the console. A new area is one line here; side bar, phone menu, go-to and keys follow. */
export const NAVIGATION: readonly NavGroup[] = [
  {
    name: null,
    items: [
      { href: "/", name: "Overview", icon: "overview", key: "o" },
      { href: "/approvals", name: "Approvals", icon: "approvals", counter: "waitingForMe", key: "a" },
    ],
  },
  {
    name: "Projections",
    items: [
      {
        href: "/event-replay/failures",
        name: "Failures",
        icon: "failures",
        counter: "openFailures",
        key: "f",
        also: ["/event-replay/plan"],
      },
      { href: "/event-replay/requests", name: "Requests", icon: "replay", key: "r" },
    ],
  },
  {
    name: "Record",
    items: [
      { href: "/audit", name: "Audit", icon: "record", key: "u" },
      { href: "/notifications", name: "Notifications", icon: "bell", counter: "unreadFailures", key: "n" },
    ],
  },
];

export const AREAS: readonly NavItem[] = NAVIGATION.flatMap((g) => g.items);

/** Pages below an area that are named, not an artifact's id. */
export const PAGE_NAMES: Readonly<Record<string, string>> = { "/event-replay/plan": "Plan a replay" };

const isAt = (path: string, href: string): boolean =>
  href === "/" ? path === "/" : path === href || path.startsWith(`${href}/`);

/** The area a path belongs to. */
export function areaOf(path: string): NavItem | undefined {
  return AREAS.find((a) => [a.href, ...(a.also ?? [])].some((href) => isAt(path, href)));
}

/** The artifact of an area that a path names, or the page of it under another address; undefined on the area's own page. */
export function placeIn(area: NavItem, path: string): string | undefined {
  return path === area.href ? undefined : path.split("/").filter(Boolean).at(-1);
}
