"use client";
import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { getOverview } from "@/components/api/overview";
import { useViewer } from "@/components/api/session";
import { CopyButton } from "@/components/ui/copy-button";
import { count, shortId } from "@/components/ui/format";
import { Icon } from "@/components/ui/icon";
import { Status } from "@/components/ui/status";
import { areaOf, NAVIGATION, type NavItem } from "./navigation";

/** The numbers beside the areas; absent until read, never a zero that is only a guess. */
function useNavCounts(): Partial<Record<NonNullable<NavItem["counter"]>, number>> {
  const { hostId } = useViewer();
  const { data } = useQuery(getOverview(hostId));
  return data ? { openFailures: data.totals.open, unreadFailures: data.unreadFailureNotifications } : {};
}

/** The host of the demo users alice, bob and carol; dave belongs to another one. */
const DEMO_HOST = "01964b05-552a-7c4b-9184-6857e7f3dc5f";

/** Which host every page shows. A session has exactly one, so there is nothing to switch. */
export function HostCard() {
  const { hostId, demo } = useViewer();
  return (
    <div className="host">
      <span className="grow">
        <span className="md">{demo && hostId === DEMO_HOST ? "Portal, demo host" : "Host"}</span>
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
            {group.items.map((item) => {
              const n = item.counter ? counts[item.counter] : undefined;
              return (
                <li key={item.href}>
                  <Link
                    href={item.href}
                    aria-current={active?.href === item.href ? "page" : undefined}
                    onClick={onNavigate}
                  >
                    <Icon name={item.icon} />
                    {item.name}
                    {n === undefined || (n === 0 && item.counter === "unreadFailures") ? null : (
                      <span className="n">
                        {count(n)}
                        <span className="vh">{item.counter === "unreadFailures" ? " unread" : " open"}</span>
                      </span>
                    )}
                  </Link>
                </li>
              );
            })}
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
