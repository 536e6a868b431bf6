import Link from "next/link";
import { ScopeLabel } from "@/components/event-replay/scope-label";
import { failureHref, scopeHref } from "@/components/event-replay/words";
import { Rail, RailLegend } from "@/components/ui/rail";
import { Status, type StatusKey } from "@/components/ui/status";
import { Age } from "@/components/ui/time";
import type { BlockedScope } from "@/server/contracts/overview";

const STATES: Record<BlockedScope["state"], { status: StatusKey; word: string }> = {
  BLOCKED: { status: "held", word: "Blocked" },
  REPAIR_WAITING: { status: "waiting", word: "Repair waits" },
  PLAN_WAITING: { status: "waiting", word: "Plan waits" },
  PLAN_APPROVED: { status: "waiting", word: "Approved" },
  RUNNING: { status: "running", word: "Running" },
  QUARANTINED: { status: "held", word: "Quarantined" },
};

function ScopeState({ scope }: { scope: BlockedScope }) {
  if (scope.state === "BLOCKED" && scope.incident) return <Status status="failed">Incident</Status>;
  const { status, word } = STATES[scope.state];
  return <Status status={status}>{word}</Status>;
}

/** Scopes that refuse commands, oldest first, with the version rail of each. */
export function BlockedScopeTable({ scopes }: { scopes: readonly BlockedScope[] }) {
  return (
    <>
      <div className="tw">
        <table className="rec">
          <caption className="vh">Blocked scopes</caption>
          <thead>
            <tr>
              <th scope="col">Scope</th>
              <th scope="col">Projected, then open</th>
              <th scope="col">Blocked for</th>
              <th scope="col">State</th>
              <th scope="col">What it waits for</th>
            </tr>
          </thead>
          <tbody>
            {scopes.map((s) => (
              <tr key={`${s.projectionName} ${s.scopeType} ${s.scopeKey}`}>
                <td>
                  <Link href={scopeHref(s)}>
                    <ScopeLabel scope={s} />
                  </Link>
                </td>
                <td data-l="Versions">
                  <Rail
                    at={s.projectedVersion}
                    open={s.openVersions.map((v) => v.version)}
                    openTotal={s.openCount}
                    waiting={s.laterAppended ?? 0}
                  />
                </td>
                <td className="nw" data-l="Blocked for">
                  <Age at={s.blockedSinceTs} />
                </td>
                <td data-l="State">
                  <ScopeState scope={s} />
                </td>
                <td data-l="Waits for">
                  <Link href={failureHref(s.failureId)}>{s.waitsFor}</Link>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <RailLegend waiting={scopes.some((s) => (s.laterAppended ?? 0) > 0)} />
    </>
  );
}
