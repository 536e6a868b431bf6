"use client";
import { useNow, useZone } from "@/components/ui/clock";
import { bytes, count, exactTime } from "@/components/ui/format";
import { PLAN_LIMITS } from "@/server/contracts/plan-limits";
import { between } from "./request-times";
import { appendedLater, heldSpan, isUnstarted, type Replay, scopeKinds } from "./request-view";

function Number_({ name, value, sub }: { name: string; value: string; sub: string }) {
  return (
    <div>
      <span className="k">{name}</span>
      <span className="v">{value}</span>
      <span className="s">{sub}</span>
    </div>
  );
}

function PlanNumbers({ request: r }: { request: Replay }) {
  const later = r.lanes.reduce((sum, lane) => sum + appendedLater(lane), 0);
  return (
    <div className="nums">
      <Number_
        name="Transactions"
        value={count(r.transactionCount)}
        sub={`${count(r.selectedTransactionCount)} selected, ${count(r.addedDependencyTransactionCount)} added`}
      />
      <Number_ name="Events" value={count(r.eventCount)} sub={`of ${count(PLAN_LIMITS.events)} allowed`} />
      <Number_ name="Bytes" value={bytes(r.decryptedPayloadBytes)} sub={`of ${bytes(PLAN_LIMITS.bytes)} allowed`} />
      <Number_ name="Scopes" value={count(r.lanes.length)} sub={scopeKinds(r.lanes)} />
      <Number_ name="Appended later" value={count(later)} sub={later > 0 ? "wait behind it" : "nothing waits"} />
    </div>
  );
}

function EndNumbers({ request: r }: { request: Replay }) {
  const now = useNow();
  const { zone } = useZone();
  const { succeeded, failed, pending, running } = r.totals;
  const { drained, count: parked, failed: drainFailed } = r.deferred;
  const span = heldSpan(r);
  const held = r.barriers.filter((b) => b.releasedTs === null).length;
  const at = (iso: string) => exactTime(Date.parse(iso), now, zone);
  return (
    <div className="nums">
      <Number_
        name="Succeeded"
        value={count(succeeded)}
        sub={`of ${count(r.transactionCount)}, ${count(failed)} failed, ${count(pending + running)} not run`}
      />
      <Number_
        name="Events"
        value={count(r.items.filter((i) => i.status === "SUCCEEDED").reduce((sum, i) => sum + i.eventCount, 0))}
        sub={`of ${count(r.eventCount)} planned`}
      />
      <Number_
        name="Drained"
        value={count(drained)}
        sub={`of ${count(drained + parked + drainFailed)} parked, ${count(drainFailed)} failed`}
      />
      {span ? (
        <Number_ name="Held for" value={between(span.from, span.to) ?? ""} sub={`${at(span.from)} to ${at(span.to)}`} />
      ) : (
        <Number_
          name="Still held"
          value={count(held)}
          sub={held > 0 ? `of ${count(r.barriers.length)} scopes` : "nothing was held"}
        />
      )}
    </div>
  );
}

/** Numbers in a row: what the plan is before it runs, what came of it after. While it runs the totals say it. */
export function RequestNumbers({ request: r }: { request: Replay }) {
  if (r.startedTs === null) return <PlanNumbers request={r} />;
  return isUnstarted(r) || r.completedTs === null ? null : <EndNumbers request={r} />;
}
