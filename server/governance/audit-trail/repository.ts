import type { Tx } from "@/server/platform/db/transaction";

export type AuditRow = {
  readonly auditId: string;
  readonly chainNo: number;
  readonly chainDigest: string;
  readonly createdTs: string;
  readonly event: string;
  readonly actorType: "USER" | "WORKER" | "SYSTEM";
  readonly actorId: string;
  readonly replayRequestId: string | null;
  readonly failureId: string | null;
  readonly barrierId: string | null;
  readonly reason: string | null;
  readonly details: Readonly<Record<string, unknown>>;
};

export type AuditFilter = {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly actorId?: string | undefined;
  readonly events?: readonly string[] | undefined;
  readonly replayRequestId?: string | undefined;
  readonly failureId?: string | undefined;
  readonly subjectId?: string | undefined;
};

/**
 * Records of a host, newest first, from a position on. Indexes: by host and time; with an actor, request or failure the one of
 * that. A failure's trail holds the records that name it among others (at most 500 of a plan).
 */
export async function loadAudit(
  tx: Tx,
  hostId: string,
  filter: AuditFilter,
  take: number,
  after: { readonly ts: string; readonly auditId: string } | null,
): Promise<AuditRow[]> {
  return await tx.query<AuditRow>(
    `SELECT a.audit_id AS "auditId", c.chain_no AS "chainNo", c.link_digest AS "chainDigest", a.created_ts AS "createdTs",
            a.event_name AS event, a.actor_type AS "actorType", a.actor_id AS "actorId",
            a.replay_request_id AS "replayRequestId", a.failure_id AS "failureId", a.barrier_id AS "barrierId", a.reason, a.details
       FROM event_replay_audit_t a
       JOIN event_replay_audit_chain_t c ON c.host_id = a.host_id AND c.audit_id = a.audit_id
      WHERE a.host_id = $1
        AND ($2::timestamptz IS NULL OR a.created_ts >= $2) AND ($3::timestamptz IS NULL OR a.created_ts < $3)
        AND ($4::text IS NULL OR a.actor_id = $4) AND ($5::text[] IS NULL OR a.event_name = ANY ($5))
        AND ($6::uuid IS NULL OR a.replay_request_id = $6)
        AND ($7::uuid IS NULL OR a.failure_id = $7 OR a.details -> 'failureIds' ? $7::text)
        AND ($8::uuid IS NULL OR a.replay_request_id = $8 OR a.failure_id = $8 OR a.barrier_id = $8 OR a.details -> 'failureIds' ? $8::text)
        AND ($9::timestamptz IS NULL OR (a.created_ts, a.audit_id) < ($9::timestamptz, $10::uuid))
      ORDER BY a.created_ts DESC, a.audit_id DESC LIMIT $11`,
    [
      hostId,
      filter.from ?? null,
      filter.to ?? null,
      filter.actorId ?? null,
      filter.events ?? null,
      filter.replayRequestId ?? null,
      filter.failureId ?? null,
      filter.subjectId ?? null,
      after?.ts ?? null,
      after?.auditId ?? null,
      take,
    ],
  );
}

export async function loadNow(tx: Tx): Promise<string> {
  const [row] = await tx.query<{ now: string }>("SELECT clock_timestamp() AS now");
  return row?.now ?? "";
}
