import type { Tx } from "@/server/platform/db/transaction";
import {
  type FailureFilter,
  type FailureStatus,
  idSearch,
  likeLiteral,
  type RollupRow,
  searchRollup,
  selectRollup,
  sumRollup,
} from "./domain/selection";
import type { ResolvedFilter } from "./failure-query";

/** A host with more stored causes than this has a defect in its cause keys; the list then says so by being cut off. */
const MAX_CAUSES = 5_000;
/** A scope or id search looks no further: such a text is not a search but a listing. */
const MAX_SEARCH_IDS = 10_000;

/** Stored causes of one status with their exact counts (event_failure_rollup_pk range). */
export async function loadRollup(tx: Tx, hostId: string, status: FailureStatus): Promise<RollupRow[]> {
  return await tx.query<RollupRow>(
    `SELECT projection_name AS "projectionName", consumer_group AS "consumerGroup", cause_key AS "storedKey", n,
        error_code AS "errorCode", error_type AS "sqlState", error_constraint AS "constraint",
        failed_event_type AS "eventType"
      FROM event_failure_rollup_t
      WHERE host_id = $1 AND status = $2 AND n > 0
      ORDER BY projection_name, consumer_group, cause_key
      LIMIT ${MAX_CAUSES}`,
    [hostId, status],
    "failures_rollup",
  );
}

/** Filters made ready for SQL: names that only the rollup knows become stored causes, the search text becomes causes and ids. */
export async function resolveFilter(
  tx: Tx,
  hostId: string,
  filter: FailureFilter,
  rollup: readonly RollupRow[],
): Promise<ResolvedFilter> {
  const causes = selectRollup(rollup, filter);
  const search =
    filter.search === undefined
      ? null
      : { causes: searchRollup(causes, filter.search), ids: await searchIds(tx, hostId, filter.status, filter.search) };
  const left = ofProjections(rollup, causes);
  const narrowsCauses = causes.length < left.length;
  const others = (kept: readonly RollupRow[]) => sumRollup(left) - sumRollup(kept);
  // A search without any id reads only the streams of the causes it found.
  if (search !== null && search.ids.length === 0) {
    return { filter, causes: search.causes, narrowsCauses: true, others: others(search.causes), search: null };
  }
  return { filter, causes, narrowsCauses, others: others(causes), search };
}

/** Members of one aggregate whatever its type: few types, so that event_failure_event_aggregate_ix is entered once for each. */
const BY_AGGREGATE =
  "SELECT failure_id FROM event_failure_event_t WHERE host_id = $1 AND aggregate_id IS NOT NULL AND aggregate_id = $2";

/**
 * Failures that a text names: failure id (exact or prefix), original transaction, event id (by the outbox), scope key (exact or
 * prefix), aggregate id. Each branch is an index range; only a scope prefix among closed failures reads further.
 */
async function searchIds(tx: Tx, hostId: string, status: FailureStatus, search: string): Promise<string[]> {
  const id = idSearch(search);
  if (id !== null && "exact" in id) {
    return await ids(
      tx,
      `SELECT failure_id FROM event_failure_transaction_t WHERE host_id = $1 AND failure_id = $3::uuid
        UNION SELECT failure_id FROM event_failure_transaction_t WHERE host_id = $1 AND original_transaction_id = $2
        UNION SELECT f.failure_id FROM outbox_message_t o JOIN event_failure_transaction_t f
          ON f.host_id = o.host_id AND f.original_transaction_id = o.transaction_id::text
          WHERE o.host_id = $1 AND o.id = $3::uuid
        UNION SELECT failure_id FROM event_failure_event_t WHERE host_id = $1 AND root_instance_id = $3::uuid
        UNION ${BY_AGGREGATE}`,
      [hostId, id.exact, id.exact],
    );
  }
  const byKey = `SELECT failure_id FROM event_failure_scope_t WHERE host_id = $1 AND status = '${status}'
    AND scope_type IN ('AGGREGATE', 'GRAPH_ROOT') AND scope_key LIKE $3${await keyRange(tx)}
    UNION ${BY_AGGREGATE}`;
  const values = [hostId, search, `${likeLiteral(search)}%`];
  if (id === null) return await ids(tx, byKey, values);
  const byId = "SELECT failure_id FROM event_failure_transaction_t WHERE host_id = $1 AND failure_id BETWEEN $4 AND $5";
  return await ids(tx, `${byId} UNION ${byKey}`, [...values, id.from, id.to]);
}

/** Keys with a prefix are one index range where the database sorts text by code point; elsewhere LIKE alone must do. */
async function keyRange(tx: Tx): Promise<string> {
  const [row] = await tx.query<{ plain: boolean }>(
    `SELECT datcollate IN ('C', 'POSIX', 'C.UTF-8', 'C.utf8') AS plain FROM pg_database WHERE datname = current_database()`,
    [],
    "failures_text_order",
  );
  return row?.plain === true ? " AND scope_key >= $2::text AND scope_key < $2::text || chr(1114111)" : "";
}

async function ids(tx: Tx, text: string, values: readonly unknown[]): Promise<string[]> {
  const rows = await tx.query<{ failure_id: string }>(`${text} LIMIT ${MAX_SEARCH_IDS}`, values);
  return rows.map((row) => row.failure_id);
}

/** Stored causes of the projections that are left: fewer selected than these means the cause must be tested. */
function ofProjections(rollup: readonly RollupRow[], causes: readonly RollupRow[]): RollupRow[] {
  const id = (row: RollupRow) => `${row.projectionName}\u0000${row.consumerGroup}`;
  const left = new Set(causes.map(id));
  return rollup.filter((row) => left.has(id(row)));
}
