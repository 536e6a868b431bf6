import type pg from "pg";
import { ensureProgressRows } from "@/server/event-replay/live/outbox-lane";
import { scopeRunsOf } from "@/server/event-replay/projection/domain/membership";
import type { EventHandler, ProjectionDefinition } from "@/server/event-replay/projection/domain/types";
import { scopeId } from "@/server/event-replay/registry/domain/scopes";
import { inTransaction } from "@/server/platform/db/transaction";
import { newId, partitionOfHost } from "@/server/platform/ids";
import { drainLane } from "./drain-lane";
import { LEDGER_HANDLERS, ledgerProjection } from "./ledger-projection";
import { hostOfPartition, type OutboxMember, putOutbox } from "./outbox";
import { hex } from "./replay-rows";

/** Real captured failures of the ledger projection and plans over them, written by SQL along the database's rules. */
export const ALICE = "https://issuer.test|alice";
export const BOB = "https://issuer.test|bob";

/** The ledger with a defect: what it makes of an account, the database refuses (23514). `ledgerProjection()` is the fix. */
export const brokenLedger = (options: Parameters<typeof ledgerProjection>[0] = {}): ProjectionDefinition => {
  const good = LEDGER_HANDLERS.AccountUpdatedEvent as Extract<EventHandler, { kind: "rows" }>;
  return ledgerProjection({
    ...options,
    handlers: {
      AccountUpdatedEvent: {
        kind: "rows",
        project: (event) =>
          good
            .project(event)
            .map((change) => ("set" in change ? { ...change, set: { ...change.set, balance: -1 } } : change)),
      },
      NoteWrittenEvent: {
        kind: "rows",
        project: (event) => [
          {
            table: "note_t",
            key: [String(event.data.noteId)],
            set: { body: "a body far longer than the forty characters it may have" },
          },
        ],
      },
    },
  });
};

export const account = (id: string, version: number, balance: number): OutboxMember => ({
  type: version === 1 ? "AccountOpenedEvent" : "AccountUpdatedEvent",
  aggregateType: "Account",
  aggregateId: id,
  version,
  data: { owner: `${id} v${version}`, balance },
});

export type Captured = { readonly hostId: string; readonly failureIds: readonly string[] };

/** Appends these transactions on a host of their own and projects them with the defect on. Failures in capture order. */
export async function captureWithDefect(
  pool: pg.Pool,
  transactions: readonly (readonly OutboxMember[])[],
  hostId: string = hostOfPartition(Math.floor(Math.random() * 16)),
): Promise<Captured> {
  await putOutbox(pool, ...transactions.map((members) => ({ hostId, members })));
  await inTransaction(pool, "rows", (tx) => ensureProgressRows(tx, brokenLedger()));
  await drainLane(pool, brokenLedger(), partitionOfHost(hostId));
  const { rows } = await pool.query<{ failure_id: string }>(
    `SELECT f.failure_id FROM event_failure_transaction_t f
       JOIN event_failure_event_t e ON e.host_id = f.host_id AND e.failure_id = f.failure_id AND e.event_ordinal = 0
      WHERE f.host_id = $1 AND f.status = 'OPEN' ORDER BY e.source_offset`,
    [hostId],
  );
  return { hostId, failureIds: rows.map((row) => row.failure_id) };
}

/** One host, accounts opened, then updates 2..n of each that fail. */
export async function failedUpdates(pool: pg.Pool, accounts: readonly string[], updates = 1): Promise<Captured> {
  const transactions = accounts.flatMap((id) => [
    [account(id, 1, 1)],
    ...Array.from({ length: updates }, (_, i) => [account(id, i + 2, 10 * (i + 2))]),
  ]);
  return captureWithDefect(pool, transactions);
}

export type PlanOptions = {
  readonly mode?: "VALIDATE_ONLY" | "EXECUTE";
  readonly status?: "AWAITING_APPROVAL" | "APPROVED" | "INSTALLING_BARRIER";
  /** Until it expires, seconds. Negative: planned long ago. */
  readonly expiresIn?: number;
  readonly definition?: ProjectionDefinition;
  /** Binds every item to this repair. */
  readonly repairId?: string;
};

export type SeededPlan = { readonly hostId: string; readonly replayRequestId: string; readonly planHash: string };

/** A plan over failures in this order, by alice; approved by bob; taken as far as `status` says. */
export async function seedPlan(pool: pg.Pool, captured: Captured, options: PlanOptions = {}): Promise<SeededPlan> {
  const { hostId, failureIds } = captured;
  const definition = options.definition ?? ledgerProjection();
  const replayRequestId = newId();
  const planHash = hex(replayRequestId);
  const scopes = await scopesOf(pool, definition, captured);
  await pool.query(
    `INSERT INTO event_replay_request_t (host_id, replay_request_id, projection_name, consumer_group, selection_strategy,
       validation_mode, reason, plan_hash, policy_registry_version, transaction_count, event_count, requested_by, requested_ts,
       expires_ts, plan_metadata)
     VALUES ($1, $2, $3, $4, 'EXACT', $5, 'because', $6, $7, $8, $8, $9, now() - interval '2 days', now() + make_interval(secs => $10), $11)`,
    [
      hostId,
      replayRequestId,
      definition.projectionName,
      definition.consumerGroup,
      options.mode ?? "EXECUTE",
      planHash,
      definition.registries.current.version,
      failureIds.length,
      ALICE,
      options.expiresIn ?? 86_400,
      JSON.stringify({
        contractVersion: "event-replay-plan-v2",
        isolationScope: {
          mode: scopes.length > 0 ? "AGGREGATE" : "TRANSACTION_ONLY",
          projectionName: definition.projectionName,
          consumerGroup: definition.consumerGroup,
          rootInstanceIds: [],
        },
        scopes,
        partitionId: partitionOfHost(hostId),
        highWaterMarks: [],
        warnings: [],
        selectedTransactionCount: failureIds.length,
        addedDependencyTransactionCount: 0,
      }),
    ],
  );
  await pool.query(
    `INSERT INTO event_replay_item_t (host_id, replay_request_id, item_ordinal, failure_id, repair_id, expected_content_fingerprint, dependency_reason)
     SELECT $1, $2, s.o - 1, f.failure_id, $4, f.content_fingerprint, 'Selected'
       FROM unnest($3::uuid[]) WITH ORDINALITY AS s(failure_id, o)
       JOIN event_failure_transaction_t f ON f.host_id = $1 AND f.failure_id = s.failure_id`,
    [hostId, replayRequestId, failureIds, options.repairId ?? null],
  );
  const plan = { hostId, replayRequestId, planHash: `sha256:${planHash}` };
  if (options.mode === "VALIDATE_ONLY") {
    await move(pool, plan, "READY");
    return plan;
  }
  for (const status of ["READY", "AWAITING_APPROVAL", "APPROVED", "INSTALLING_BARRIER"]) {
    await move(pool, plan, status);
    if (status === (options.status ?? "APPROVED")) break;
  }
  return plan;
}

async function move(pool: pg.Pool, plan: SeededPlan, status: string): Promise<void> {
  const extra =
    status === "APPROVED"
      ? `, approved_by = '${BOB}', approved_ts = now()`
      : status === "INSTALLING_BARRIER"
        ? `, started_by = '${ALICE}', started_ts = now()`
        : "";
  await pool.query(
    `UPDATE event_replay_request_t SET status = $3${extra} WHERE host_id = $1 AND replay_request_id = $2`,
    [plan.hostId, plan.replayRequestId, status],
  );
}

type Planned = { scopeType: string; scopeKey: string; before: number | null; after: number };

async function scopesOf(
  pool: pg.Pool,
  definition: ProjectionDefinition,
  { hostId, failureIds }: Captured,
): Promise<Planned[]> {
  const { rows } = await pool.query(
    `SELECT e.aggregate_type AS "aggregateType", e.aggregate_id AS "aggregateId", e.aggregate_version AS "aggregateVersion",
            e.root_instance_id AS "rootInstanceId", e.graph_revision AS "graphRevision", e.version_baseline AS "versionBaseline"
       FROM unnest($2::uuid[]) WITH ORDINALITY AS s(failure_id, o)
       JOIN event_failure_event_t e ON e.host_id = $1 AND e.failure_id = s.failure_id ORDER BY s.o, e.event_ordinal`,
    [hostId, failureIds],
  );
  const planned = new Map<string, Planned>();
  for (const row of rows) {
    for (const run of scopeRunsOf({ members: [row] })) {
      const known = planned.get(scopeId(run));
      const after = run.versions.at(-1) as number;
      if (known) known.after = after;
      else {
        const { rows: stands } = await pool.query<{ projected_version: number }>(
          `SELECT projected_version FROM projection_scope_t WHERE host_id = $1 AND projection_name = $2 AND consumer_group = $3
              AND scope_type = $4 AND scope_key = $5`,
          [hostId, definition.projectionName, definition.consumerGroup, run.type, run.key],
        );
        planned.set(scopeId(run), {
          scopeType: run.type,
          scopeKey: run.key,
          before: stands[0]?.projected_version ?? null,
          after,
        });
      }
    }
  }
  return [...planned.values()].sort((a, b) => (a.scopeKey < b.scopeKey ? -1 : 1));
}
