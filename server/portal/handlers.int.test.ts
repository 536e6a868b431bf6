import { expect, test } from "vitest";
import { appendCommands } from "@/server/event-replay/append/append-command";
import type { PolicyEntry } from "@/server/event-replay/registry/domain/policy";
import { partitionOfHost } from "@/server/platform/ids";
import { append } from "@/server/testing/append";
import { testDatabase } from "@/server/testing/database";
import { drainLane } from "@/server/testing/drain-lane";
import { compareVariants } from "@/server/testing/handler-harness";
import { waitingTransactions } from "@/server/testing/source-transactions";
import { AGGREGATES, type Aggregate } from "./catalog/aggregates";
import { portalProjection } from "./portal-projection";
import { AGGREGATE_TABLES } from "./tables";

const db = testDatabase();
const definition = portalProjection();
const deps = () => ({ pool: db.pool, projection: definition });
const HOST = "01964b05-552a-7c4b-9184-6857e7f3dc5f";
const USER = "01964b05-5532-7c79-8cde-191dcbd421b8";
const ID = "0196f0c2-0000-7000-8000-000000000001";
const CANARY = "canary-5f2d";

/** Members with a meaning; every other member is a short text, and every uuid the same one, so that parents are found. */
const VALUES: Readonly<Record<string, unknown>> = {
  hostId: HOST,
  userType: "E",
  language: "en",
  configPhase: "R",
  birthday: "1990-02-28",
  startTs: "2026-01-01T00:00:00Z",
  endTs: "2027-01-01T00:00:00Z",
  displayOrder: 3,
  endpoints: [{ endpoint: "/v1@get", limit: 5 }],
};
const tables = new Map(AGGREGATE_TABLES.map((table) => [table.aggregateType, table]));

function dataOf({ type, identity }: Aggregate): Record<string, unknown> {
  const table = tables.get(type);
  if (!table)
    return { ...Object.fromEntries(identity.map((member) => [member, `${member}-1`])), label: "one", password: CANARY };
  const members = [...table.keyMembers, ...Object.keys(table.columns)];
  const columnOf = (member: string) => table.columns[member] ?? table.table.key[table.keyMembers.indexOf(member) + 1];
  const value = (member: string) => {
    const column = table.table.columns[columnOf(member) as string];
    if (member in VALUES) return VALUES[member];
    return column === "uuid" ? ID : column === "boolean" ? true : member.slice(0, 8);
  };
  return {
    ...Object.fromEntries(members.map((member) => [member, value(member)])),
    ...{ hostId: HOST, password: CANARY, token: CANARY, clientSecret: CANARY },
  };
}

/** Parents first, as the tables stand; types without a table anywhere. */
const ordered = [...AGGREGATES].sort((a, b) => rank(a.type) - rank(b.type));
function rank(type: string): number {
  return AGGREGATE_TABLES.findIndex((table) => table.aggregateType === type);
}

async function appendOneOfEach(entries: readonly PolicyEntry[]): Promise<void> {
  const change = (aggregate: Aggregate, verb: string) => ({
    hostId: HOST,
    userId: USER,
    changes: [
      {
        eventType: `${aggregate.type}${verb}Event`,
        aggregateType: aggregate.type,
        aggregateId: `${aggregate.type}-1`,
        data: dataOf(aggregate),
      },
    ],
  });
  const saves = ordered.flatMap((aggregate) =>
    ["Created", ...aggregate.also.map(({ verb }) => verb), "Updated"].map((verb) => change(aggregate, verb)),
  );
  const deletes = [...ordered].reverse().map((aggregate) => change(aggregate, "Deleted"));
  await appendCommands(deps(), [...saves, ...deletes]);

  let revision = 0;
  const versions = new Map<string, number>();
  for (const { eventType, schemaVersion, dependency, identityFields } of entries) {
    if (dependency.kind === "AGGREGATE") continue;
    const type = dependency.kind === "GRAPH_ROOT" ? dependency.aggregateType : undefined;
    const version = (versions.get(type ?? "") ?? 0) + 1;
    versions.set(type ?? "", version);
    const graph = dependency.kind === "GRAPH_ROOT" && { rootinstanceid: ID, instancegraphrevision: ++revision };
    const aggregate = type !== undefined && {
      aggregatetype: type,
      aggregateversion: version,
      subject: `${type}-graph`,
    };
    await append(deps(), [
      {
        ...{
          specversion: "1.0",
          id: crypto.randomUUID(),
          source: "urn:test",
          time: "2026-01-02T03:04:05.1Z",
          host: HOST,
          user: USER,
        },
        type: eventType,
        eventschema: schemaVersion,
        ...graph,
        ...aggregate,
        data: { ...Object.fromEntries(identityFields.map((member) => [member, `${member}-graph`])), note: "x" },
      },
    ]);
  }
}

test("ER-EXE-11 ER-EXE-12 every handler of the portal passes the harness: batch, one by one, REPLAY and twice give the same rows", async () => {
  const { entries } = definition.registries.current;
  // Graph events rise by one per aggregate: the entries of a type stand together, its Deleted event among them last but one.
  const patchesBeforeDelete = [...entries].sort(
    (a, b) => Number(/Deleted/.test(a.eventType)) - Number(/Deleted/.test(b.eventType)),
  );
  await appendOneOfEach(patchesBeforeDelete);
  const transactions = await waitingTransactions(db.pool, definition, partitionOfHost(HOST));

  const ran = new Set(transactions.flatMap(({ members }) => members.map((m) => `${m.eventType}@${m.schemaVersion}`)));
  expect([...ran].sort()).toEqual(entries.map((entry) => `${entry.eventType}@${entry.schemaVersion}`).sort());

  // Once before anything is deleted, when every table holds a row, and once to the end.
  const firstDelete = transactions.findIndex(({ members }) => /Deleted/.test(members[0]?.eventType ?? ""));
  for (const some of [transactions.slice(0, firstDelete), transactions]) {
    const { batch, oneByOne, replay, twice, outcomes } = await compareVariants(db.pool, definition, some);
    const idle = outcomes.map((outcome, i) =>
      outcome.kind === "PROJECTED" && outcome.memberChanged.every(Boolean) ? null : some[i]?.members[0]?.eventType,
    );
    expect(idle.filter((type) => type !== null)).toEqual([]);
    const empty = [...definition.tables.keys()].filter((name) => batch[name]?.length === 0);
    if (some !== transactions) expect(empty).toEqual(["portal_record_t"]);
    expect(oneByOne).toEqual(batch);
    expect(replay).toEqual(batch);
    expect(twice).toEqual(batch);
  }
}, 120_000);

test("ER-EXE-08 projecting the portal live leaves no secret in any row, and deletes leave no row", async () => {
  const { transactions, captured } = await drainLane(db.pool, definition, partitionOfHost(HOST));
  expect([transactions, captured]).toEqual([definition.registries.current.entries.length, 0]);
  for (const { name } of definition.tables.values()) {
    const { rows } = await db.pool.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
    expect(rows.filter(({ row }) => row.includes(CANARY))).toEqual([]);
    if (name !== "portal_entity_t" && name !== "portal_record_t") expect([name, rows.length]).toEqual([name, 0]);
  }
});
