import type { IconName } from "@/components/ui/icon";

export type NavItem = {
  href: string;
  name: string;
  icon: IconName;
  /** Which number stands at its right; see `useNavCounts`. */
  counter?: "openFailures" | "unreadFailures";
  /** Key after `g`. */
  key: string;
};

export type NavGroup = { name: string | null; items: readonly NavItem[] };

/** Every area of the console. A new area is one line here; side bar, phone menu, go-to and keys follow. */
export const NAVIGATION: readonly NavGroup[] = [
  { name: null, items: [{ href: "/", name: "Overview", icon: "overview", key: "o" }] },
  {
    name: "Projections",
    items: [{ href: "/event-replay/failures", name: "Failures", icon: "failures", counter: "openFailures", key: "f" }],
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

/** The area a path belongs to: the longest matching address. */
export function areaOf(path: string): NavItem | undefined {
  return AREAS.filter((a) => (a.href === "/" ? path === "/" : path === a.href || path.startsWith(`${a.href}/`))).at(-1);
}
