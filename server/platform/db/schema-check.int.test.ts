import { expect, test } from "vitest";
import manifest from "@/drizzle/migrations/manifest.json";
import { publicTables, readCatalog } from "@/server/platform/db/catalog";
import { assertSchema, findSchemaProblems, LEGACY_COLUMNS, SchemaError } from "@/server/platform/db/schema-check";
import { testDatabase } from "@/server/testing/database";

const db = testDatabase();

/** What the check says of a schema changed by `ddl`, which is undone. */
async function problemsAfter(ddl: string): Promise<string[]> {
  const client = await db.pool.connect();
  try {
    await client.query("BEGIN");
    await client.query(ddl);
    return await findSchemaProblems(client as unknown as typeof db.pool);
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
}

test("ER-DEP-01 the migrations create every table of capture, repair, replay, isolation, approval and audit", async () => {
  const tables = await publicTables(db.pool);
  expect(tables).toEqual(
    expect.arrayContaining([
      "event_failure_delivery_t",
      "event_failure_event_t",
      "event_failure_publish_outbox_t",
      "event_failure_rollup_t",
      "event_failure_scope_t",
      "event_failure_transaction_t",
      "event_projection_deferred_scope_t",
      "event_projection_deferred_t",
      "event_repair_event_t",
      "event_repair_t",
      "event_replay_action_request_t",
      "event_replay_attempt_t",
      "event_replay_audit_t",
      "event_replay_barrier_t",
      "event_replay_item_t",
      "event_replay_lease_t",
      "event_replay_request_t",
    ]),
  );
});

test("ER-DEP-01 the manifest is the catalog of a freshly migrated database, and the check finds nothing to say", async () => {
  expect(await readCatalog(db.pool, await publicTables(db.pool))).toEqual(manifest);
  expect(await findSchemaProblems(db.pool)).toEqual([]);
});

test("ER-DEP-02 startup refuses the lack of each single table by its name", async () => {
  const unnamed: string[] = [];
  const client = await db.pool.connect();
  try {
    await client.query("BEGIN");
    for (const table of Object.keys(manifest.tables)) {
      await client.query(`SAVEPOINT whole; DROP TABLE ${table} CASCADE`);
      const problems = await findSchemaProblems(client as unknown as typeof db.pool);
      if (!problems.includes(`missing table ${table}`)) unnamed.push(table);
      await client.query("ROLLBACK TO SAVEPOINT whole");
    }
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
  expect(unnamed).toEqual([]);
}, 120_000);

test("ER-DEP-02 startup refuses a missing or changed column, constraint, index, trigger or function by its name", async () => {
  const cases: readonly (readonly [ddl: string, problem: string])[] = [
    [
      "ALTER TABLE event_repair_event_t DROP COLUMN corrected_payload_format",
      "missing column event_repair_event_t.corrected_payload_format",
    ],
    [
      "ALTER TABLE event_failure_transaction_t ALTER COLUMN cause_key DROP NOT NULL",
      'column event_failure_transaction_t.cause_key is "character varying(512)", needed "character varying(512) not null"',
    ],
    [
      "ALTER TABLE event_repair_t DROP CONSTRAINT event_repair_two_persons_ck",
      "missing constraint event_repair_two_persons_ck on event_repair_t",
    ],
    ["DROP INDEX event_replay_barrier_live_uk", "missing index event_replay_barrier_live_uk on event_replay_barrier_t"],
    [
      "DROP TRIGGER event_failure_event_frozen ON event_failure_event_t",
      "missing trigger event_failure_event_frozen on event_failure_event_t",
    ],
    [
      "ALTER TABLE event_failure_event_t DISABLE TRIGGER event_failure_event_frozen",
      "trigger event_failure_event_frozen on event_failure_event_t differs",
    ],
    [
      "ALTER TABLE event_failure_event_t ENABLE TRIGGER event_failure_event_frozen",
      "trigger event_failure_event_frozen on event_failure_event_t differs",
    ],
    [
      "CREATE OR REPLACE FUNCTION ea_failure_waived() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
      "function ea_failure_waived differs",
    ],
    [
      "ALTER TABLE event_failure_event_t ADD COLUMN payload_copy bytea",
      "unexpected column event_failure_event_t.payload_copy",
    ],
  ];
  const found: string[][] = [];
  for (const [ddl] of cases) found.push(await problemsAfter(ddl));
  expect(found).toEqual(cases.map(([, problem]) => [problem]));
});

test("ER-DEP-02 the refusal is one error that names every problem and how to mend it", async () => {
  const client = await db.pool.connect();
  try {
    await client.query("BEGIN");
    await client.query("DROP TABLE event_repair_event_t; ALTER TABLE event_replay_lease_t DROP COLUMN lease_owner");
    const refusal = await assertSchema(client as unknown as typeof db.pool).then(
      () => null,
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(SchemaError);
    expect((refusal as SchemaError).problems).toEqual(
      expect.arrayContaining(["missing table event_repair_event_t", "missing column event_replay_lease_t.lease_owner"]),
    );
    expect((refusal as SchemaError).message).toMatch(/db:migrate[\s\S]*missing table event_repair_event_t/);
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
});

test("ER-DEP-02 a taken-over database may keep exactly the listed legacy columns", async () => {
  const additions = Object.entries(LEGACY_COLUMNS).flatMap(([table, columns]) =>
    columns.map((column) => `ALTER TABLE ${table} ADD COLUMN ${column} text`),
  );
  expect(additions.length).toBeGreaterThan(0);
  expect(await problemsAfter(additions.join("; "))).toEqual([]);
});

test("ER-PAY-11 startup refuses event bytes that PUBLIC may read, by table or by column", async () => {
  expect(await problemsAfter("GRANT SELECT ON event_projection_deferred_t TO PUBLIC")).toEqual([
    "PUBLIC may SELECT event_projection_deferred_t.payload_plain",
  ]);
  expect(await problemsAfter("GRANT SELECT (corrected_payload_plain) ON event_repair_event_t TO PUBLIC")).toEqual([
    "PUBLIC may SELECT event_repair_event_t.corrected_payload_plain",
  ]);
});
