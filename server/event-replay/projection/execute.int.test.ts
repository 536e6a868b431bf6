import { readdirSync, readFileSync } from "node:fs";
import net from "node:net";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { inTransaction } from "@/server/platform/db/transaction";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { compareVariants } from "@/server/testing/handler-harness";
import { LEDGER_DDL, LEDGER_HANDLERS, ledgerProjection } from "@/server/testing/ledger-projection";
import { hostOfPartition, type OutboxMember, putOutbox } from "@/server/testing/outbox";
import { waitingTransactions } from "@/server/testing/source-transactions";
import type {
  EventHandler,
  ExecutionMode,
  ProjectedEvent,
  ProjectionDefinition,
  ProjectionTransaction,
} from "./domain/types";
import { execute, ProjectionWriteError } from "./execute";

const db = testDatabase();
const ledger = ledgerProjection();
let nextPartition = 0;

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});

const account = (id: string, version: number, data: Record<string, unknown> = {}): OutboxMember => ({
  type: version === 1 ? "AccountOpenedEvent" : "AccountUpdatedEvent",
  aggregateType: "Account",
  aggregateId: id,
  version,
  data,
});
const entry = (
  id: string,
  version: number,
  data: Record<string, unknown>,
  type = "EntryPostedEvent",
): OutboxMember => ({
  type,
  aggregateType: "Entry",
  aggregateId: id,
  version,
  data,
});

/** Transactions of a fresh lane of a fresh host, as the source delivers them. */
async function delivered(...transactions: OutboxMember[][]): Promise<readonly ProjectionTransaction[]> {
  const partition = nextPartition++ % 16;
  const hostId = hostOfPartition(partition);
  await putOutbox(db.pool, ...transactions.map((members) => ({ hostId, members })));
  const all = await waitingTransactions(db.pool, ledger, partition);
  return all.filter((transaction) => transaction.hostId === hostId);
}

const run = (
  transactions: readonly ProjectionTransaction[],
  mode: ExecutionMode = "LIVE",
  definition: ProjectionDefinition = ledger,
) => inTransaction(db.pool, "test", (tx) => execute(tx, definition, transactions, mode));

const scopesOf = async (hostId: string) =>
  (
    await db.pool.query(
      "SELECT scope_type, scope_key, projected_version FROM projection_scope_t WHERE host_id = $1 ORDER BY scope_type, scope_key",
      [hostId],
    )
  ).rows;

test("ER-EXE-01 only the executor calls a handler: no second dispatch exists", () => {
  const root = path.resolve(import.meta.dirname, "../..");
  const callers = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.ts$/.test(file) && !file.startsWith("testing"))
    .filter((file) => /\.project\(|\.handle\(/.test(readFileSync(path.join(root, file), "utf8")));
  const engine = callers.filter((file) => file.startsWith("event-replay"));
  expect(engine.sort()).toEqual(["event-replay/projection/domain/prepare.ts", "event-replay/projection/execute.ts"]);
});

test("ER-EXE-02 the mode never chooses a handler: both modes call the same one with the same event", async () => {
  const calls: { mode: ExecutionMode; event: ProjectedEvent }[] = [];
  let mode: ExecutionMode = "LIVE";
  const spy: EventHandler = {
    kind: "statements",
    async handle(_tx, event) {
      calls.push({ mode, event });
      return 1;
    },
  };
  const [transaction] = await delivered([account("exe02", 1, { owner: "o" })]);
  for (mode of ["LIVE", "REPLAY"] as const) {
    const definition = ledgerProjection({ handlers: { AccountOpenedEvent: spy }, consumerGroup: `exe02-${mode}` });
    await run([transaction as ProjectionTransaction], mode, definition);
  }
  expect(calls.map((call) => call.mode)).toEqual(["LIVE", "REPLAY"]);
  expect(calls[0]?.event).toEqual(calls[1]?.event);
});

test("ER-EXE-03 members run in ordinal order, then scopes move, and a replayed transaction's notifications say so", async () => {
  const order: string[] = [];
  const spy: EventHandler = {
    kind: "statements",
    async handle(_tx, event) {
      order.push(event.aggregateId as string);
      return 1;
    },
  };
  const definition = ledgerProjection({ handlers: { AccountOpenedEvent: spy } });
  const [transaction] = await delivered([account("z", 1), account("a", 1), account("m", 1)]);
  const { hostId, transactionId } = transaction as ProjectionTransaction;
  await db.pool.query("UPDATE notification_t SET status = 'DLQ' WHERE host_id = $1", [hostId]);
  await run([transaction as ProjectionTransaction], "REPLAY", definition);
  expect(order).toEqual(["z", "a", "m"]);
  expect(await scopesOf(hostId)).toHaveLength(3);
  const { rows } = await db.pool.query("SELECT DISTINCT status FROM notification_t WHERE transaction_id = $1", [
    transactionId,
  ]);
  expect(rows).toEqual([{ status: "SUCCEEDED" }]);
});

test("ER-EXE-04 the executor neither commits nor rolls back: the caller's rollback removes every effect", async () => {
  const [transaction] = await delivered([
    account("exe04", 1, { owner: "o" }),
    { type: "NoteWrittenEvent", data: { noteId: "exe04" } },
  ]);
  const onlyConnection = db.createPool({ max: 1 });
  await expect(
    inTransaction(onlyConnection, "test", async (tx) => {
      const [outcome] = await execute(tx, ledger, [transaction as ProjectionTransaction], "LIVE");
      expect(outcome?.kind).toBe("PROJECTED");
      throw new Error("caller rolls back");
    }),
  ).rejects.toThrow("caller rolls back");
  expect(await scopesOf((transaction as ProjectionTransaction).hostId)).toEqual([]);
  expect((await db.pool.query("SELECT FROM account_t WHERE account_id = 'exe04'")).rowCount).toBe(0);
  expect((await db.pool.query("SELECT FROM note_t WHERE note_id = 'exe04'")).rowCount).toBe(0);
});

test("ER-EXE-05 a handler gets a frozen event: it can't edit what is projected", async () => {
  let thrown: unknown;
  const meddler: EventHandler = {
    kind: "rows",
    project(event) {
      try {
        (event.data as Record<string, unknown>).owner = "meddled";
        (event.data.deep as Record<string, unknown>).inner = 2;
      } catch (error) {
        thrown = error;
      }
      return LEDGER_HANDLERS.AccountOpenedEvent?.kind === "rows"
        ? LEDGER_HANDLERS.AccountOpenedEvent.project(event)
        : [];
    },
  };
  const [transaction] = await delivered([account("exe05", 1, { owner: "given", deep: { inner: 1 } })]);
  const before = Buffer.from((transaction as ProjectionTransaction).members[0]?.payload as Buffer);
  await run(
    [transaction as ProjectionTransaction],
    "LIVE",
    ledgerProjection({ handlers: { AccountOpenedEvent: meddler } }),
  );
  expect(thrown).toBeInstanceOf(TypeError);
  const { rows } = await db.pool.query("SELECT owner FROM account_t WHERE account_id = 'exe05'");
  expect(rows).toEqual([{ owner: "given" }]);
  expect((transaction as ProjectionTransaction).members[0]?.payload.equals(before)).toBe(true);
});

test("ER-EXE-06 projection rows and ordering rows are in one commit: an error at either leaves neither", async () => {
  const [first, second] = await delivered(
    [account("exe06", 1, { balance: 1 })],
    [account("exe06", 2, { balance: -1 })],
  );
  await expect(run([first as ProjectionTransaction, second as ProjectionTransaction])).rejects.toBeInstanceOf(
    ProjectionWriteError,
  );
  expect(await scopesOf((first as ProjectionTransaction).hostId)).toEqual([]);
  expect((await db.pool.query("SELECT FROM account_t WHERE account_id = 'exe06'")).rowCount).toBe(0);
  // The other half: ordering rows refuse, so the rows of the projection go too.
  await db.pool.query(
    "ALTER TABLE projection_scope_t ADD CONSTRAINT refuse_exe06 CHECK (scope_key <> 'Account:exe06')",
  );
  await expect(run([first as ProjectionTransaction])).rejects.toThrow();
  expect((await db.pool.query("SELECT FROM account_t WHERE account_id = 'exe06'")).rowCount).toBe(0);
  await db.pool.query("ALTER TABLE projection_scope_t DROP CONSTRAINT refuse_exe06");
});

test("ER-EXE-07 handlers write only through the caller's transaction: nobody else sees rows before it commits", async () => {
  const [transaction] = await delivered([
    account("exe07", 1, { owner: "o" }),
    entry("exe07", 1, { amount: 3 }),
    entry("exe07", 2, { factor: 2 }, "EntryScaledEvent"),
  ]);
  const other = db.createPool();
  await inTransaction(db.pool, "test", async (tx) => {
    await execute(tx, ledger, [transaction as ProjectionTransaction], "LIVE");
    expect((await other.query("SELECT FROM account_t WHERE account_id = 'exe07'")).rowCount).toBe(0);
    expect((await other.query("SELECT FROM entry_t WHERE entry_id = 'exe07'")).rowCount).toBe(0);
  });
  expect((await other.query("SELECT amount FROM entry_t WHERE entry_id = 'exe07'")).rows).toEqual([{ amount: 6 }]);
});

test("ER-EXE-08 applying a transaction twice equals applying it once, ordered and unordered alike", async () => {
  const [ordered, unordered] = await delivered(
    [account("exe08", 1, { balance: 7 })],
    [{ type: "NoteWrittenEvent", data: { noteId: "exe08", body: "first" } }],
  );
  const both = [ordered as ProjectionTransaction, unordered as ProjectionTransaction];
  await run(both);
  await db.pool.query("UPDATE note_t SET body = 'edited later' WHERE note_id = 'exe08'");
  expect((await run(both)).map((outcome) => outcome.kind)).toEqual(["ALREADY_PROJECTED", "ALREADY_PROJECTED"]);
  expect((await run([...both, ...both])).map((outcome) => outcome.kind)).toEqual(
    new Array(4).fill("ALREADY_PROJECTED"),
  );
  const { rows } = await db.pool.query("SELECT body FROM note_t WHERE note_id = 'exe08'");
  expect(rows).toEqual([{ body: "edited later" }]);
});

test("ER-EXE-09 a row never goes back to an older version, even when the bookkeeping is wrong", async () => {
  const [first] = await delivered([account("exe09", 1, { owner: "old" })]);
  await db.pool.query("INSERT INTO account_t (account_id, owner, aggregate_version) VALUES ('exe09', 'newer', 5)");
  await expect(run([first as ProjectionTransaction])).rejects.toBeInstanceOf(ProjectionWriteError);
  const { rows } = await db.pool.query("SELECT owner, aggregate_version FROM account_t WHERE account_id = 'exe09'");
  expect(rows).toEqual([{ owner: "newer", aggregate_version: 5 }]);
});

test("ER-EXE-10 the harness catches a handler that opens a socket", async () => {
  const leaky: EventHandler = {
    kind: "statements",
    async handle() {
      net.connect(9, "127.0.0.1");
      return 1;
    },
  };
  const transactions = await delivered([account("exe10", 1)]);
  await expect(
    compareVariants(db.pool, ledgerProjection({ handlers: { AccountOpenedEvent: leaky } }), transactions),
  ).rejects.toThrow();
  await expect(compareVariants(db.pool, ledger, transactions)).resolves.toBeDefined();
});

test("ER-EXE-11 LIVE on one database and REPLAY on another leave the same rows, column by column", async () => {
  const transactions = await delivered(
    [account("live", 1, { owner: "a", balance: 1 }), entry("live", 1, { accountId: "live", amount: 9007199254740 })],
    [account("live", 2, { email: "x@example.org" }), entry("live", 2, { factor: 3 }, "EntryScaledEvent")],
    [{ type: "NoteWrittenEvent", data: { noteId: "live", body: "b" } }],
    [entry("live", 3, {}, "EntryRemovedEvent")],
  );
  const { batch, oneByOne, replay } = await compareVariants(db.pool, ledger, transactions);
  expect(batch.account_t?.some((row) => row.includes("x@example.org"))).toBe(true);
  expect(replay).toEqual(batch);
  expect(oneByOne).toEqual(batch);
});

test("ER-EXE-12 the harness tells a handler that is not idempotent in its effects apart", async () => {
  const transactions = await delivered(
    [entry("exe12", 1, { amount: 1 })],
    [entry("exe12", 2, { factor: 2 }, "EntryScaledEvent")],
  );
  const clocked = ledgerProjection({
    handlers: {
      EntryPostedEvent: {
        kind: "statements",
        handle: (tx, event) =>
          tx.execute(
            "INSERT INTO entry_t (entry_id, amount) VALUES ($1, extract(epoch FROM clock_timestamp()) * 1e6)",
            [event.aggregateId],
          ),
      },
    },
  });
  const bad = await compareVariants(db.pool, clocked, transactions);
  expect(bad.replay).not.toEqual(bad.batch);
  const good = await compareVariants(db.pool, ledger, transactions);
  expect([good.oneByOne, good.replay, good.twice]).toEqual([good.batch, good.batch, good.batch]);
});

test("ER-EXE-14 REPLAY moves no source position", async () => {
  const [transaction] = await delivered([account("exe14", 1)]);
  const positions = () => db.pool.query("SELECT * FROM consumer_offsets ORDER BY group_id, partition_id");
  const before = (await positions()).rows;
  expect(before.length).toBeGreaterThan(0);
  const [outcome] = await run([transaction as ProjectionTransaction], "REPLAY");
  expect(outcome?.kind).toBe("PROJECTED");
  expect((await positions()).rows).toEqual(before);
});

test("ER-EXE-16 a transaction over several scopes moves each of them, graph roots included", async () => {
  const root = newId();
  const [transaction] = await delivered([
    account("exe16a", 1),
    account("exe16a", 2),
    account("exe16b", 1),
    { type: "GraphNodePlacedEvent", root, revision: 1, data: { noteId: "exe16", body: "g" } },
  ]);
  const { hostId } = transaction as ProjectionTransaction;
  await run([transaction as ProjectionTransaction]);
  expect(await scopesOf(hostId)).toEqual([
    { scope_type: "AGGREGATE", scope_key: "Account:exe16a", projected_version: 2 },
    { scope_type: "AGGREGATE", scope_key: "Account:exe16b", projected_version: 1 },
    { scope_type: "GRAPH_ROOT", scope_key: root, projected_version: 1 },
  ]);
  const { rows } = await db.pool.query("SELECT projected_revision FROM instance_graph_revision_t WHERE host_id = $1", [
    hostId,
  ]);
  expect(rows).toEqual([{ projected_revision: 1 }]);
});

test("ER-EXE-17 an incomplete or mis-ordered transaction is refused before any handler runs", async () => {
  let called = 0;
  const spy: EventHandler = {
    kind: "rows",
    project() {
      called += 1;
      return [];
    },
  };
  const definition = ledgerProjection({ handlers: { AccountOpenedEvent: spy } });
  const [whole] = await delivered([account("a17", 1), account("b17", 1), account("c17", 1)]);
  const { members } = whole as ProjectionTransaction;
  const broken = [
    members.slice(0, 2),
    members.slice(1),
    [members[1], members[0], members[2]],
    [members[0], members[0], members[2]],
    [],
  ];
  for (const list of broken) {
    const [outcome] = await run(
      [{ ...(whole as ProjectionTransaction), members: list as typeof members }],
      "LIVE",
      definition,
    );
    expect(outcome).toMatchObject({ kind: "REFUSED", code: "TRANSACTION_INCOMPLETE" });
  }
  expect(called).toBe(0);
});

test("ER-APP-23 an event is projected under the registry version it was pinned to, never under a newer one", async () => {
  const handler = (owner: string): EventHandler => ({
    kind: "rows",
    project: (event) => [
      {
        table: "account_t",
        key: [event.aggregateId as string],
        set: { owner, aggregate_version: event.aggregateVersion },
      },
    ],
  });
  const current = ledger.registries.current;
  const older = { ...current, version: "event-replay-policy-v1" };
  const definition: ProjectionDefinition = {
    ...ledger,
    registries: {
      current,
      all: [current, older],
      version: (v) => (v === current.version ? current : v === older.version ? older : undefined),
    },
    handlerFor: (_entry, version) => handler(version),
  };
  const transactions = await delivered(
    [{ ...account("pin-old", 1), registryVersion: older.version }],
    [account("pin-new", 1)],
    [{ ...account("pin-gone", 1), registryVersion: "event-replay-policy-v0" }],
  );
  const outcomes = await run(transactions, "LIVE", definition);
  expect(outcomes.map((outcome) => outcome.kind)).toEqual(["PROJECTED", "PROJECTED", "REFUSED"]);
  expect(outcomes[2]).toMatchObject({ code: "UNSUPPORTED_EVENT_TYPE" });
  const { rows } = await db.pool.query(
    "SELECT account_id, owner FROM account_t WHERE account_id LIKE 'pin-%' ORDER BY 1",
  );
  expect(rows).toEqual([
    { account_id: "pin-new", owner: current.version },
    { account_id: "pin-old", owner: older.version },
  ]);
});

test("a member that changed no row is told apart from one that did", async () => {
  const [transaction] = await delivered([entry("ghost", 1, {}, "EntryRemovedEvent"), account("real", 1)]);
  const [outcome] = await run([transaction as ProjectionTransaction], "REPLAY");
  expect(outcome).toEqual({ kind: "PROJECTED", memberChanged: [false, true] });
});
