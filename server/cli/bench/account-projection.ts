import type pg from "pg";
import type { ProjectionDefinition, ProjectionTable } from "@/server/event-replay/projection/domain/types";
import { POLICY_REGISTRY_VERSION, type PolicyEntry } from "@/server/event-replay/registry/domain/policy";
import { buildRegistries, buildRegistry } from "@/server/event-replay/registry/domain/registry";
import { PORTAL_OBJECT_V1 } from "@/server/event-replay/registry/domain/validators";

/** The group's number of the outbox in consumer_offsets. */
export const TOPIC = 1;

const ENTRY: PolicyEntry = {
  eventType: "AccountUpdatedEvent",
  schemaVersion: "1",
  transactionPolicy: "COMPLETE_TRANSACTION",
  dependency: { kind: "AGGREGATE", aggregateType: "Account" },
  dataValidator: "PORTAL_OBJECT_V1",
  replayPolicy: "AGGREGATE_VERSION",
  repairDisposition: "FIX_AND_EXACT_REPLAY_ONLY",
  repairSchema: null,
  externalSideEffects: "NONE",
  identityFields: [],
};

/** One contestant's own world: consumer group, progress and projection table; all contestants read the same outbox. */
export type Account = { readonly definition: ProjectionDefinition; readonly table: string };

/**
 * Makes an account's table, and its progress at the end of the log.
 */
export async function createAccount(pool: pg.Pool, name: string): Promise<Account> {
  const account = accountOf(name);
  await pool.query(
    `CREATE TABLE ${account.table} (account_id text PRIMARY KEY, owner text, balance bigint CHECK (balance >= 0),
       aggregate_version bigint, update_ts timestamptz)`,
  );
  await pool.query(
    `INSERT INTO consumer_offsets (group_id, topic_id, partition_id, next_offset)
     SELECT $1, $2, partition_id, next_offset FROM event_offset_counter_t`,
    [account.definition.consumerGroup, TOPIC],
  );
  return account;
}

/**
 * The smallest projection that has all duties of a real one: one versioned row per aggregate, a constraint that can refuse it
 * (balance below zero), ordering scopes, progress.
 */
export function accountOf(name: string): Account {
  const table: ProjectionTable = {
    name: `account_${name}_t`,
    columns: {
      account_id: "text",
      owner: "text",
      balance: "bigint",
      aggregate_version: "bigint",
      update_ts: "timestamptz",
    },
    key: ["account_id"],
    parents: [],
    versionColumn: "aggregate_version",
  };
  const group = `bench-${name.replaceAll("_", "-")}`;
  const registry = buildRegistry({
    version: POLICY_REGISTRY_VERSION,
    entries: [ENTRY],
    validators: new Map([["PORTAL_OBJECT_V1", PORTAL_OBJECT_V1]]),
    repairSchemas: new Map(),
  });
  return {
    table: table.name,
    definition: {
      projectionName: "bench",
      consumerGroup: group,
      registries: buildRegistries(registry, []),
      tables: new Map([[table.name, table]]),
      handlerFor: () => ({
        kind: "rows",
        project: (event) => [
          {
            table: table.name,
            key: [event.aggregateId],
            set: {
              owner: event.data.owner as string,
              balance: event.data.balance as number,
              aggregate_version: event.aggregateVersion,
              update_ts: event.time,
            },
          },
        ],
      }),
    },
  };
}
