import type { ProjectionDefinition, ProjectionTransaction } from "@/server/event-replay/projection/domain/types";
import type { Tx } from "@/server/platform/db/transaction";
import { newId } from "@/server/platform/ids";
import { buildFailureRecord, type FailureReason } from "./domain/failure-record";
import { insertFailure } from "./repository";

/** The archive refused the failure. The source must not move past it; the caller rolls everything back and tries again. */
export class CaptureError extends Error {
  constructor(override readonly cause: unknown) {
    super("the failure could not be archived");
    this.name = "CaptureError";
  }
}

export type CaptureResult = { readonly failureId: string; readonly isNew: boolean };

/**
 * Archives one failed transaction whole: header, every member's exact bytes, its scopes, this delivery, notification status
 * DLQ and the legacy diagnostic row, on the caller's transaction, together with the source's progress (ER-CAP-02). The
 * content fingerprint makes it idempotent: a redelivery, or a second process, bumps counters of the one failure
 * (ER-CAP-24, ER-CAP-25). Throws CaptureError; nothing is ever half archived.
 */
export async function captureFailure(
  tx: Tx,
  definition: ProjectionDefinition,
  transaction: ProjectionTransaction,
  reason: FailureReason,
): Promise<CaptureResult> {
  try {
    return await insertFailure(tx, definition, newId(), newId(), buildFailureRecord(definition, transaction, reason));
  } catch (error) {
    throw new CaptureError(error);
  }
}
