import type { ErrorCode } from "@/server/contracts/errors";
import { loadFailureTransaction } from "@/server/event-replay/capture/load-failure";
import { scopeRunsOf } from "@/server/event-replay/projection/domain/membership";
import { pinnedEntry } from "@/server/event-replay/projection/domain/prepare";
import type { ProjectionDefinition, ProjectionTransaction } from "@/server/event-replay/projection/domain/types";
import { scopesOfEvent } from "@/server/event-replay/registry/domain/scopes";
import type { Tx } from "@/server/platform/db/transaction";
import { AppError } from "@/server/platform/errors";
import type { PlanFailure } from "./domain/plan";
import type { FailureHeader, LookedUpScope } from "./repository";

/** A proven failure and what its scopes are found by. */
export type ProvenFailure = PlanFailure & { readonly lookUp: readonly Omit<LookedUpScope, "above" | "below">[] };

/** Codes of diagnostic evidence that say why it can never run. */
const EVIDENCE_CODES: ReadonlySet<string> = new Set(["UNSUPPORTED_EVENT_TYPE", "TRANSACTION_INCOMPLETE"]);

/**
 * Refuses failures that no plan may hold: ended, kept as evidence only, of a policy that forbids replay, or with a repair under
 * way that isn't the bound one (ER-PLN-04, D-15, D-16). The refusal names all of its kind.
 */
export function refuseHeaders(headers: readonly FailureHeader[], boundRepairFailureId: string | null): void {
  const refuse = (code: ErrorCode, broken: readonly FailureHeader[]) => {
    if (broken.length > 0) throw new AppError(code, { failureIds: idsOf(broken) });
  };
  refuse(
    "INVALID_REPLAY_STATE",
    headers.filter((header) => header.status !== "OPEN"),
  );
  for (const header of headers) {
    if (header.replayPolicy === "NOT_REPLAYABLE") refuse("EVENT_NOT_REPLAYABLE", [header]);
    if (header.executable) continue;
    const known = header.errorCode !== null && EVIDENCE_CODES.has(header.errorCode);
    refuse(known ? (header.errorCode as ErrorCode) : "EVENT_NOT_REPLAYABLE", [header]);
  }
  refuse(
    "EVENT_REPAIR_REQUIRED",
    headers.filter((header) => header.liveRepairIds.length > 0 && header.failureId !== boundRepairFailureId),
  );
}

/**
 * Loads each failure whole and proves its digests from the stored bytes (ER-PLN-03), checks every member against the registry
 * version it is pinned to (ER-PLN-04), and derives its scopes from the pinned metadata (ER-PLN-05). The bytes are let go at
 * once: a plan keeps digests. One at a time, so that at most one transaction is in memory. `deadline` on the process's monotonic
 * clock; past it the plan is refused as too large.
 */
export async function loadPlanFailures(
  tx: Tx,
  definition: ProjectionDefinition,
  hostId: string,
  headers: readonly FailureHeader[],
  limits: { readonly excludedEventTypes: readonly string[]; readonly deadline: number },
): Promise<ProvenFailure[]> {
  const proven: ProvenFailure[] = [];
  for (const header of headers) {
    if (performance.now() > limits.deadline) {
      throw new AppError("REPLAY_LIMIT_EXCEEDED", { errors: [{ field: "/failureIds", rule: "PLANNING_TIME" }] });
    }
    const loaded = await loadFailureTransaction(tx, hostId, header.failureId);
    if (!loaded.ok) throw new AppError(loaded.code, { failureIds: [header.failureId] });
    const refusal = refuseMembers(definition, loaded.transaction, limits.excludedEventTypes);
    if (refusal) throw new AppError(refusal, { failureIds: [header.failureId] });
    const { members } = loaded.transaction;
    proven.push({
      failureId: header.failureId,
      contentFingerprint: loaded.contentFingerprint,
      eventCount: header.eventCount,
      payloadBytes: header.payloadBytes,
      firstPosition: members[0]?.source.offset ?? 0,
      runs: scopeRunsOf(loaded.transaction),
      lookUp: members.flatMap((member) =>
        scopesOfEvent(member).map(({ type, key }) => ({
          type,
          key,
          aggregateType: type === "AGGREGATE" ? member.aggregateType : null,
          aggregateId: type === "AGGREGATE" ? member.aggregateId : null,
        })),
      ),
    });
  }
  return proven;
}

function refuseMembers(
  definition: ProjectionDefinition,
  transaction: ProjectionTransaction,
  excludedEventTypes: readonly string[],
): ErrorCode | null {
  for (const member of transaction.members) {
    if (excludedEventTypes.includes(member.eventType)) return "EVENT_NOT_REPLAYABLE";
    const entry = pinnedEntry(definition, member);
    if (!entry) return "UNSUPPORTED_EVENT_TYPE";
    if (entry.replayPolicy === "NOT_REPLAYABLE") return "EVENT_NOT_REPLAYABLE";
    if (!definition.handlerFor(entry, member.policyRegistryVersion)) return "UNSUPPORTED_EVENT_TYPE";
  }
  return null;
}

function idsOf(headers: readonly FailureHeader[]): string[] {
  return headers
    .map((header) => header.failureId)
    .sort()
    .slice(0, 500);
}
