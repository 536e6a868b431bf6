import Link from "next/link";
import { ScopeLabel } from "@/components/event-replay/scope-label";
import { failureHref } from "@/components/event-replay/words";
import { Status } from "@/components/ui/status";
import { Age } from "@/components/ui/time";
import type { GetOverviewResponse } from "@/server/contracts/overview";

const others = (n: number) => (n > 1 ? ` and ${n - 1} more` : "");

/** What was captured last, newest first. */
export function RecentCaptures({ captures }: { captures: GetOverviewResponse["recentCaptures"] }) {
  return (
    <ul className="list">
      {captures.map((c) => (
        <li key={c.failureId}>
          <div className="row between">
            <Status status="failed">Captured whole</Status>
            <span className="sm m">
              <Age at={c.lastFailedTs} units={1} suffix=" ago" />
            </span>
          </div>
          <Link className="md" href={failureHref(c.failureId)}>
            {c.eventType}
            {others(c.eventCount)}
          </Link>
          <p className="sm m">{c.cause.sentence}</p>
          {c.primaryScope ? (
            <p className="sm">
              <ScopeLabel scope={c.primaryScope} version={c.primaryScope.version} />
            </p>
          ) : null}
        </li>
      ))}
    </ul>
  );
}
