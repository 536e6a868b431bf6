import { expect, test } from "vitest";
import { testDatabase } from "@/server/testing/database";
import { AGGREGATE_TABLES, PORTAL_TABLES } from "./tables";

const db = testDatabase();

const TYPE_NAMES: Readonly<Record<string, string>> = {
  "character varying": "text",
  text: "text",
  uuid: "uuid",
  bigint: "bigint",
  integer: "integer",
  boolean: "boolean",
  "timestamp with time zone": "timestamptz",
  date: "date",
  jsonb: "jsonb",
};

const names = [...PORTAL_TABLES.keys()];

test("declared columns and types of every projection table are those of the database, none more and none less", async () => {
  const { rows } = await db.pool.query<{ table_name: string; column_name: string; data_type: string }>(
    `SELECT table_name, column_name, data_type FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name = ANY($1)`,
    [names],
  );
  for (const { name, columns } of PORTAL_TABLES.values()) {
    const real = rows
      .filter((row) => row.table_name === name)
      .map((row) => [row.column_name, TYPE_NAMES[row.data_type]]);
    expect([name, Object.fromEntries(real)]).toEqual([name, columns]);
  }
});

test("declared keys, parents and further unique constraints are those of the database", async () => {
  const { rows } = await db.pool.query<{ child: string; kind: string; columns: string[]; parent: string | null }>(
    `SELECT c.conrelid::regclass::text AS child, c.contype::text AS kind, nullif(c.confrelid, 0)::regclass::text AS parent,
            (SELECT array_agg(a.attname::text ORDER BY k.n)
             FROM unnest(c.conkey) WITH ORDINALITY AS k(attnum, n)
             JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.attnum) AS columns
     FROM pg_constraint c WHERE c.contype IN ('p', 'u', 'f') AND c.conrelid::regclass::text = ANY($1)`,
    [names],
  );
  for (const table of PORTAL_TABLES.values()) {
    const own = rows.filter((row) => row.child === table.name);
    const parents = own.filter((row) => row.kind === "f").map((row) => `${row.parent} ${row.columns.join()}`);
    expect({
      table: table.name,
      key: own.find((row) => row.kind === "p")?.columns,
      parents: parents.sort(),
      otherUnique: own.some((row) => row.kind === "u"),
    }).toEqual({
      table: table.name,
      key: table.key,
      parents: table.parents.map((parent) => `${parent.table} ${parent.columns.join()}`).sort(),
      otherUnique: table.otherUnique ?? false,
    });
  }
});

test("every key begins with the tenant, no column depends on the clock, and no column can hold a secret", async () => {
  for (const { key } of PORTAL_TABLES.values()) expect(key[0]).toBe("host_id");
  const { rows } = await db.pool.query<{ column_default: string }>(
    `SELECT column_default FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name = ANY($1) AND column_default IS NOT NULL`,
    [names],
  );
  expect([...new Set(rows.map((row) => row.column_default))].sort()).toEqual(["false", "true"]);
  const columns = AGGREGATE_TABLES.flatMap(({ table }) => Object.keys(table.columns));
  expect(columns.filter((column) => /password|secret|token$|private|^keys$/.test(column))).toEqual([]);
});
