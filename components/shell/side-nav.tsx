"use client";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { getOverview } from "@/components/api/overview";
import { listEventReplay } from "@/components/api/replay";
import { useViewer } from "@/components/api/session";
import { CopyButton } from "@/components/ui/copy-button";
import { count, shortId } from "@/components/ui/format";
import { Icon } from "@/components/ui/icon";
import { Status } from "@/components/ui/status";
import { waitingForMe } from "./inbox-read";
import { areaOf, NAVIGATION, type NavItem } from "./navigation";

const INBOX_MS = 30_000;

/** The numbers beside the areas; absent until read, never a zero that is only a guess. */
function useNavCounts(): Partial<Record<NonNullable<NavItem["counter"]>, number>> {
  const { hostId } = useViewer();
  const overview = useQuery(getOverview(hostId));
  const inbox = useQuery({ ...listEventReplay(waitingForMe(hostId)), refetchInterval: INBOX_MS });
  return {
    ...(overview.data
      ? { openFailures: overview.data.totals.open, unreadFailures: overview.data.unreadFailureNotifications }
      : {}),
    ...(inbox.data ? { waitingForMe: inbox.data.counts.waitingForMe } : {}),
  };
}

/** How each number is read aloud, whether it asks the viewer to act, and whether a zero is worth its place. */
const COUNTERS: Record<NonNullable<NavItem["counter"]>, { said: string; calls: boolean; zero: boolean }> = {
  openFailures: { said: "open", calls: false, zero: true },
  unreadFailures: { said: "unread", calls: false, zero: false },
  waitingForMe: { said: "waiting for you", calls: true, zero: false },
};

function NavCount({ counter, n }: { counter: NonNullable<NavItem["counter"]>; n: number | undefined }) {
  const { said, calls, zero } = COUNTERS[counter];
  if (n === undefined || (n === 0 && !zero)) return null;
  return (
    <span className={calls ? "n on" : "n"}>
      {count(n)}
      <span className="vh"> {said}</span>
    </span>
  );
}

/** Which host every page shows. A session has exactly one, so there is nothing to switch. */
export function HostCard() {
  const { hostId, demo } = useViewer();
  return (
    <div className="host">
      <span className="grow">
        <span className="md">{demo ? "Demo host" : "Host"}</span>
        <span className="m" title={hostId}>
          {shortId(hostId)}
        </span>
      </span>
      <CopyButton text={hostId} label="Copy host id" />
    </div>
  );
}

export function NavList({ onNavigate }: { onNavigate?: () => void }) {
  const active = areaOf(usePathname());
  const counts = useNavCounts();
  return (
    <nav className="nav" aria-label="Main">
      {NAVIGATION.map((group) => (
        <div key={group.name ?? "top"}>
          {group.name ? <h2>{group.name}</h2> : null}
          <ul>
            {group.items.map((item) => (
              <li key={item.href}>
                <Link
                  href={item.href}
                  aria-current={active?.href === item.href ? "page" : undefined}
                  onClick={onNavigate}
                >
                  <Icon name={item.icon} />
                  {item.name}
                  {item.counter ? <NavCount counter={item.counter} n={counts[item.counter]} /> : null}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

const CAPTURE = { HEALTHY: ["done", "Healthy"], DEGRADED: ["held", "Behind"], STOPPED: ["failed", "Stopped"] } as const;

/** Facts that hold on every page: does capture work, and is anything blocked. */
export function SystemFacts() {
  const { hostId } = useViewer();
  const { data, isError } = useQuery(getOverview(hostId));
  if (!data)
    return <div className="side-foot">{isError ? <span className="m">Health could not be read</span> : null}</div>;
  const [status, word] = CAPTURE[data.capture.state];
  return (
    <div className="side-foot">
      <span className="row between">
        <span>Capture</span>
        <Status status={status}>{word}</Status>
      </span>
      <span className="row between">
        <span>Blocked scopes</span>
        {data.blocked.scopes === 0 ? (
          <Status status="done">None</Status>
        ) : (
          <Status status={data.blocked.incident ? "failed" : "held"}>{count(data.blocked.scopes)}</Status>
        )}
      </span>
    </div>
  );
}
