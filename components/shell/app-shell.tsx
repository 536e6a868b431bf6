"use client";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { type ReactNode, useCallback, useRef, useState } from "react";
import { Mark } from "@/components/ui/icon";
import { KeyHelp, usePageKeys } from "@/components/ui/keyboard";
import { useReadyMark } from "@/components/ui/ready-mark";
import { GoToDialog } from "./go-to-dialog";
import { AREAS } from "./navigation";
import { HostCard, NavList, SystemFacts } from "./side-nav";
import { TopBar } from "./top-bar";

const KEY_GROUPS = [
  {
    name: "Everywhere",
    lines: [
      { keys: ["/"], does: "go to an id, scope or page" },
      ...AREAS.map((a) => ({ keys: ["g", a.key], does: a.name.toLowerCase() })),
      { keys: ["?"], does: "all keys" },
      { keys: ["Esc"], does: "clear or close" },
    ],
  },
  {
    name: "In a list",
    lines: [
      { keys: ["j", "k"], does: "move down, up" },
      { keys: ["x"], does: "select the row" },
      { keys: ["Shift", "x"], does: "select from the last selected row to this one" },
      { keys: ["a"], does: "select all of the cause" },
      { keys: ["p"], does: "plan the replay of the selection, or of the row" },
      { keys: ["Enter"], does: "open" },
      { keys: ["c"], does: "copy the id" },
    ],
  },
] as const;

const CHORD_MS = 1200;

/** Frame of every page: areas at the left, bar on top, the keys that work everywhere. */
export function AppShell({ children }: { children: ReactNode }) {
  const router = useRouter();
  const [goTo, setGoTo] = useState(false);
  const [keys, setKeys] = useState(false);
  const chordUntil = useRef(0);
  const openGoTo = useCallback(() => setGoTo(true), []);
  const openKeys = useCallback(() => setKeys(true), []);

  usePageKeys((key, event) => {
    if (chordUntil.current > event.timeStamp) {
      chordUntil.current = 0;
      const area = AREAS.find((a) => a.key === key);
      if (area) router.push(area.href);
      return area !== undefined;
    }
    if (key === "g") chordUntil.current = event.timeStamp + CHORD_MS;
    else if (key === "/") setGoTo(true);
    else if (key === "?") setKeys(true);
    else return false;
    return true;
  });

  useReadyMark();
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <div className="app">
        <aside className="side" aria-label="Event Admin">
          <Link className="brand" href="/">
            <Mark />
            Event Admin
          </Link>
          <HostCard />
          <NavList />
          <SystemFacts />
        </aside>
        <div className="body">
          <TopBar onGoTo={openGoTo} onKeys={openKeys} />
          <main id="main" tabIndex={-1}>
            {children}
          </main>
        </div>
      </div>
      {goTo ? <GoToDialog onClose={() => setGoTo(false)} /> : null}
      {keys ? <KeyHelp groups={KEY_GROUPS} onClose={() => setKeys(false)} /> : null}
    </>
  );
}
