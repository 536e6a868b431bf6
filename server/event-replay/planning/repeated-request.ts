import type { CreatePlanRequest, CreatePlanResponse, ReplayStatus } from "@/server/contracts/replay";
import type { ReplayContext } from "@/server/event-replay/replay-context";
import { toIso } from "@/server/platform/db/timestamps";
import type { Tx } from "@/server/platform/db/transaction";
import { fingerprint, toWireDigest } from "@/server/platform/digest";
import { AppError } from "@/server/platform/errors";
import { newId } from "@/server/platform/ids";
import { type RequestRow, readRequest } from "./request-repository";

/**
 * A request without a key that equals one of the last few seconds by the same person is a double click, or a retry after a
 * lost answer: it gets the first plan. Seconds, by the database's clock. Whoever wants more certainty sends an idempotencyKey,
 * which holds for ever.
 */
const DOUBLE_CLICK_SECONDS = 10;

export type RequestIdentity = {
  readonly requestId: string;
  /** Digest of everything asked for; equal for equal requests in any order of ids. */
  readonly fingerprint: string;
  readonly keyed: boolean;
};

/** With a key the id is made of host, person and key: the table's key then makes the plan unique. */
export function requestIdentity(ctx: ReplayContext, request: CreatePlanRequest): RequestIdentity {
  const { hostId, actor } = ctx;
  const asked = fingerprint([
    "createEventReplayPlan",
    hostId,
    actor.personId,
    request.projectionName,
    request.consumerGroup,
    [...new Set(request.failureIds)].sort(),
    request.strategy,
    request.validationMode,
    request.reason,
    request.repairId ?? null,
  ]);
  if (request.idempotencyKey === undefined) return { requestId: newId(), fingerprint: asked, keyed: false };
  const named = fingerprint(["idempotencyKey", hostId, actor.personId, request.idempotencyKey]);
  return { requestId: toUuid(named), fingerprint: asked, keyed: true };
}

/**
 * Equal requests queue here for the length of their transaction; returns the plan of the first, or null for the first itself.
 * Throws INVALID_REQUEST when a key is used again for something else.
 */
export async function claimIdentity(
  tx: Tx,
  ctx: ReplayContext,
  identity: RequestIdentity,
): Promise<CreatePlanResponse | null> {
  tx.lock("REPLAY_REQUEST");
  const lockedBy = identity.keyed ? identity.requestId : identity.fingerprint;
  await tx.query("SELECT pg_advisory_xact_lock($1)", [lockKey(lockedBy)]);
  if (!identity.keyed) {
    const first = await findDouble(tx, ctx, identity.fingerprint);
    return first === null ? null : await planResponse(tx, ctx.hostId, first, true);
  }
  const known = await readRequest(tx, ctx.hostId, identity.requestId);
  if (!known) return null;
  if (known.planMetadata.requestFingerprint !== identity.fingerprint) {
    throw new AppError("INVALID_REQUEST", {
      errors: [{ field: "/idempotencyKey", rule: "KEY_USED_FOR_ANOTHER_REQUEST" }],
    });
  }
  return await planResponse(tx, ctx.hostId, known.replayRequestId, true);
}

async function findDouble(tx: Tx, ctx: ReplayContext, asked: string): Promise<string | null> {
  const [row] = await tx.query<{ replay_request_id: string }>(
    `SELECT replay_request_id FROM event_replay_request_t
      WHERE host_id = $1 AND status IN ('READY', 'AWAITING_APPROVAL') AND requested_ts >= now() - make_interval(secs => $4)
        AND requested_by = $2 AND plan_metadata ->> 'requestFingerprint' = $3
      ORDER BY requested_ts LIMIT 1`,
    [ctx.hostId, ctx.actor.personId, asked, DOUBLE_CLICK_SECONDS],
  );
  return row?.replay_request_id ?? null;
}

/** The stored plan as createEventReplayPlan answers it. */
export async function planResponse(
  tx: Tx,
  hostId: string,
  requestId: string,
  repeated: boolean,
): Promise<CreatePlanResponse> {
  const row = await readRequest(tx, hostId, requestId);
  if (!row?.planHash) throw new Error("a plan that was just written or found isn't there");
  const [bound] = await tx.query<{ repair_id: string }>(
    "SELECT repair_id FROM event_replay_item_t WHERE host_id = $1 AND replay_request_id = $2 AND repair_id IS NOT NULL",
    [hostId, requestId],
  );
  const { planMetadata } = row;
  return {
    replayRequestId: requestId,
    status: statusNow(row),
    planHash: toWireDigest(row.planHash),
    selectedTransactionCount: planMetadata.selectedTransactionCount,
    addedDependencyTransactionCount: planMetadata.addedDependencyTransactionCount,
    transactionCount: row.transactionCount,
    eventCount: row.eventCount,
    strategy: row.strategy,
    validationMode: row.validationMode,
    projectionCommitted: isCommitted(row),
    isolationScope: {
      ...planMetadata.isolationScope,
      rootInstanceIds: [...planMetadata.isolationScope.rootInstanceIds],
    },
    warnings: [...planMetadata.warnings],
    expiresAt: toIso(row.expiresTs),
    repairId: bound?.repair_id ?? null,
    decryptedPayloadBytes: row.payloadBytes,
    scopeCount: planMetadata.scopes.length,
    repeated,
  };
}

/** Overdue counts as EXPIRED before anybody has written it. */
export function statusNow(row: RequestRow): ReplayStatus {
  return row.overdue ? "EXPIRED" : row.status;
}

/** Only a whole success in mode EXECUTE has committed the projection; a partly done request never claims it (ER-API-23). */
export function isCommitted(row: RequestRow): boolean {
  return row.status === "SUCCEEDED" && row.validationMode === "EXECUTE";
}

/** Version 8 (RFC 9562): a UUID made of a digest. */
function toUuid(hex: string): string {
  const variant = ((Number.parseInt(hex[16] as string, 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function lockKey(text: string): string {
  return BigInt.asIntN(64, BigInt(`0x${fingerprint(["plan request", text]).slice(0, 16)}`)).toString();
}
