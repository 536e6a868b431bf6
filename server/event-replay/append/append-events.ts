import type { FieldError } from "@/server/contracts/errors";
import type { EventEnvelope } from "@/server/event-replay/registry/domain/envelope";
import { APPEND_LIMITS } from "@/server/event-replay/registry/domain/limits";
import { readEventNode } from "@/server/event-replay/registry/domain/read-event";
import { newId } from "@/server/platform/ids";
import { parseExactJson } from "@/server/platform/json/exact-json";
import { type AppendDeps, type AppendResult, appendTransaction, refused } from "./append-transaction";

export type AppendEventsResponse = {
  readonly transactionId: string;
  readonly eventCount: number;
  readonly duplicate: boolean;
  readonly firstOffset: number;
};

/** White space and escapes may make a body larger than its canonical events; beyond this it isn't even parsed. */
export const MAX_BODY_BYTES = 2 * APPEND_LIMITS.transactionBytes;

/**
 * `POST /api/events`: the body is a JSON array of CloudEvents, one complete transaction in ordinal order. Without the extension
 * `transactionid` the id is ours, and posting the same events again answers the first result with `duplicate: true`. An event
 * of another host than the caller's: AUTHORIZATION_DENIED before any look-up. Otherwise throws what `appendTransaction` throws.
 */
export async function appendEvents(
  deps: AppendDeps,
  request: { readonly hostId: string; readonly body: Buffer },
): Promise<AppendEventsResponse> {
  const envelopes = readBody(request.body);
  if (envelopes.some(({ hostId }) => hostId !== request.hostId)) throw refused("AUTHORIZATION_DENIED", {});
  const claimed =
    envelopes.find(({ claimedTransactionId }) => claimedTransactionId !== null)?.claimedTransactionId ?? null;
  const result: AppendResult = await appendTransaction(deps, {
    stage: "DIRECT_APPEND",
    transactionId: claimed ?? newId(),
    explicitId: claimed !== null,
    members: envelopes.map((envelope) => ({ envelope })),
    isImport: false,
  });
  const { transactionId, duplicate, firstOffset } = result;
  return { transactionId, eventCount: envelopes.length, duplicate, firstOffset };
}

function readBody(body: Buffer): EventEnvelope[] {
  if (body.length > MAX_BODY_BYTES)
    throw refused("REPLAY_LIMIT_EXCEEDED", { errors: [{ field: "", rule: "BODY_TOO_LARGE" }] });
  const parsed = parseExactJson(body);
  if (!parsed.ok) throw refused("INVALID_REQUEST", { errors: [{ field: parsed.pointer, rule: parsed.rule }] });
  if (parsed.value.kind !== "array")
    throw refused("INVALID_REQUEST", { errors: [{ field: "", rule: "NOT_AN_ARRAY" }] });
  const { items } = parsed.value;
  if (items.length === 0) throw refused("INVALID_REQUEST", { errors: [{ field: "", rule: "TRANSACTION_EMPTY" }] });
  if (items.length > APPEND_LIMITS.transactionMembers) {
    throw refused("REPLAY_LIMIT_EXCEEDED", { errors: [{ field: "", rule: "TRANSACTION_TOO_MANY_MEMBERS" }] });
  }
  const errors: FieldError[] = [];
  const envelopes: EventEnvelope[] = [];
  for (const [member, node] of items.entries()) {
    const reading = readEventNode(node, member);
    if (reading.ok) envelopes.push(reading.envelope);
    else errors.push(...reading.errors);
  }
  if (errors.length > 0) throw refused("INVALID_REQUEST", { errors: errors.slice(0, APPEND_LIMITS.reportedErrors) });
  return envelopes;
}
