import { beforeAll, expect, test } from "vitest";
import { checkConservation } from "@/server/event-replay/append/checker";
import { decodeParked, PARKED_FORMAT } from "@/server/event-replay/projection/domain/parked-frame";
import type { ProjectionTransaction } from "@/server/event-replay/projection/domain/types";
import { insertParked } from "@/server/event-replay/projection/parking-repository";
import { inTransaction } from "@/server/platform/db/transaction";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { drainLane } from "@/server/testing/drain-lane";
import { account, finish, install, newHolder, parkedOf } from "@/server/testing/isolation";
import { LEDGER_DDL, ledgerProjection } from "@/server/testing/ledger-projection";
import { hostOfPartition, type OutboxMember, putOutbox } from "@/server/testing/outbox";
import { waitingTransactions } from "@/server/testing/source-transactions";
import { ensureProgressRows } from "./outbox-lane";

const db = testDatabase();
const ledger = ledgerProjection();

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
  await inTransaction(db.pool, "setup", (tx) => ensureProgressRows(tx, ledger));
});

const event = (id: string, version: number, data: Record<string, unknown> = {}): OutboxMember => ({
  type: version === 1 ? "AccountOpenedEvent" : "AccountUpdatedEvent",
  aggregateType: "Account",
  aggregateId: id,
  version,
  data,
});
const note = (noteId: string, body = "b"): OutboxMember => ({ type: "NoteWrittenEvent", data: { noteId, body } });
const put = (hostId: string, ...transactions: OutboxMember[][]) =>
  putOutbox(db.pool, ...transactions.map((members) => ({ hostId, members })));
const rows = async (text: string, ...values: unknown[]) => (await db.pool.query(text, values)).rows;
const progressOf = async (partition: number) =>
  (
    await rows(
      "SELECT next_offset FROM consumer_offsets WHERE group_id = 'ledger-group' AND partition_id = $1",
      partition,
    )
  )[0]?.next_offset;

test("ER-ISO-04 a live transaction that touches one barriered scope is parked whole, and its source moves on", async () => {
  const hostId = hostOfPartition(0);
  const holder = await newHolder(db.pool, ledger, hostId);
  await install(db.pool, holder, [account("iso04-a")]);
  const [parked] = await put(hostId, [event("iso04-b", 1), event("iso04-a", 1), note("iso04")], [event("iso04-c", 1)]);
  expect(await drainLane(db.pool, ledger, 0)).toMatchObject({ transactions: 2, parked: 1, captured: 0 });
  expect(await parkedOf(db.pool, hostId)).toMatchObject([{ original_transaction_id: parked, status: "PENDING" }]);
  expect(await rows("SELECT account_id FROM account_t WHERE account_id LIKE 'iso04%'")).toEqual([
    { account_id: "iso04-c" },
  ]);
  expect(await rows("SELECT FROM note_t WHERE note_id = 'iso04'")).toEqual([]);
  expect(await checkConservation(db.pool, ledger)).toEqual([]);
  const stillThere = await checkConservation(db.pool, ledger, { atRest: true });
  expect(stillThere.map(({ rule }) => rule).sort()).toEqual(["BARRIER_LEFT", "PARKED_LEFT"]);
  await finish(db.pool, ledger, holder);
  expect(await checkConservation(db.pool, ledger, { atRest: true })).toEqual([]);
});

test("ER-ISO-04 later work on any scope of a parked transaction is parked behind it, in the batches after it, too", async () => {
  const hostId = hostOfPartition(1);
  const holder = await newHolder(db.pool, ledger, hostId);
  await put(hostId, [event("chain-b", 1)]);
  await drainLane(db.pool, ledger, 1);
  await install(db.pool, holder, [account("chain-a")]);
  await put(hostId, [event("chain-a", 1), event("chain-b", 2)]);
  await drainLane(db.pool, ledger, 1);
  await put(hostId, [event("chain-b", 3), event("chain-c", 1)]);
  await drainLane(db.pool, ledger, 1);
  await put(hostId, [event("chain-c", 2)], [event("chain-d", 1)]);
  await drainLane(db.pool, ledger, 1);
  expect(await parkedOf(db.pool, hostId)).toHaveLength(3);
  expect(await rows("SELECT account_id FROM account_t WHERE account_id LIKE 'chain%' ORDER BY 1")).toEqual([
    { account_id: "chain-b" },
    { account_id: "chain-d" },
  ]);
  expect(
    await rows("SELECT FROM event_failure_transaction_t WHERE host_id = $1 AND projection_name = 'ledger'", hostId),
  ).toEqual([]);
  await finish(db.pool, ledger, holder);
  expect(
    await rows("SELECT account_id, aggregate_version FROM account_t WHERE account_id LIKE 'chain%' ORDER BY 1"),
  ).toEqual([
    { account_id: "chain-a", aggregate_version: 1 },
    { account_id: "chain-b", aggregate_version: 3 },
    { account_id: "chain-c", aggregate_version: 2 },
    { account_id: "chain-d", aggregate_version: 1 },
  ]);
});

test("ER-ISO-05 parked bytes are exactly the source's, with a digest and count the database proves, and decode without loss", async () => {
  const hostId = hostOfPartition(2);
  const holder = await newHolder(db.pool, ledger, hostId);
  const root = newId();
  await install(db.pool, holder, [account("iso05")]);
  await put(hostId, [
    event("iso05", 1, { zeta: 1, "b ": 1.5, a: { n: 'ü\u0001 \\ "' }, owner: "o" }),
    { type: "GraphNodePlacedEvent", root, revision: 7, data: { noteId: "iso05" }, baseline: true },
    note("iso05-n"),
  ]);
  const [source] = (await waitingTransactions(db.pool, ledger, 2)) as [ProjectionTransaction];
  await drainLane(db.pool, ledger, 2);
  const [stored] = await rows("SELECT * FROM event_projection_deferred_t WHERE host_id = $1", hostId);
  expect(stored).toMatchObject({ payload_storage: "DATABASE_PLAIN", event_count: 3, source_processor: "DATABASE" });
  expect(stored.decrypted_payload_bytes).toBe(stored.payload_plain.length);
  const header = {
    hostId,
    projectionName: ledger.projectionName,
    consumerGroup: ledger.consumerGroup,
    transactionId: stored.original_transaction_id,
    contentFingerprint: stored.content_fingerprint,
    eventCount: stored.event_count,
    payloadDigest: stored.payload_digest,
  };
  const decoded = decodeParked(stored.payload_plain, header);
  if (!decoded.ok) throw new Error(decoded.code);
  const plain = (transaction: ProjectionTransaction) => ({
    ...transaction,
    // The bytes of a source that delivers text stand behind a getter.
    members: transaction.members.map((member) => {
      const { payloadText: _, payload: __, ...fields } = { ...member, payload: null };
      return { ...fields, payload: member.payload.toString("hex") };
    }),
  });
  expect(plain(decoded.transaction)).toEqual(plain(source));
  const outbox = await rows("SELECT event_bytes FROM outbox_message_t WHERE host_id = $1 ORDER BY c_offset", hostId);
  expect(decoded.transaction.members.map((member) => member.payload.toString("hex"))).toEqual(
    outbox.map((row) => row.event_bytes.toString("hex")),
  );
  await finish(db.pool, ledger, holder);
});

test("ER-ISO-05 parked work, its barrier rows and the source's position are one commit: refused parking moves nothing", async () => {
  const hostId = hostOfPartition(3);
  const holder = await newHolder(db.pool, ledger, hostId);
  await install(db.pool, holder, [account("commit")]);
  await put(hostId, [event("commit", 1)], [event("commit-free", 1)]);
  const before = await progressOf(3);
  await db.pool.query("ALTER TABLE event_projection_deferred_t ADD CONSTRAINT full_up CHECK (false) NOT VALID");
  await expect(drainLane(db.pool, ledger, 3)).rejects.toThrow();
  expect(await progressOf(3)).toBe(before);
  expect(await rows("SELECT FROM account_t WHERE account_id LIKE 'commit%'")).toEqual([]);
  await db.pool.query("ALTER TABLE event_projection_deferred_t DROP CONSTRAINT full_up");
  await drainLane(db.pool, ledger, 3);
  const [same] = await rows(
    `SELECT d.xmin::text = p.xmin::text AND s.xmin::text = p.xmin::text AS one_commit
       FROM event_projection_deferred_t d JOIN event_projection_deferred_scope_t s USING (host_id, deferred_id), consumer_offsets p
      WHERE d.host_id = $1 AND p.group_id = 'ledger-group' AND p.partition_id = 3`,
    hostId,
  );
  expect(same).toEqual({ one_commit: true });
  await finish(db.pool, ledger, holder);
});

test("ER-ISO-05 a transaction that is delivered again is parked once", async () => {
  const hostId = hostOfPartition(4);
  const holder = await newHolder(db.pool, ledger, hostId);
  await install(db.pool, holder, [account("again")]);
  await put(hostId, [event("again", 1)]);
  const [transaction] = (await waitingTransactions(db.pool, ledger, 4)) as [ProjectionTransaction];
  await drainLane(db.pool, ledger, 4);
  const [{ barrier_id }] = (await rows(
    "SELECT barrier_id FROM event_projection_deferred_t WHERE host_id = $1",
    hostId,
  )) as [{ barrier_id: string }];
  const again = [{ transaction, scopes: [account("again")], barrierIds: [barrier_id] }];
  await inTransaction(db.pool, "again", (tx) => insertParked(tx, ledger, again));
  expect(await parkedOf(db.pool, hostId)).toHaveLength(1);
  await finish(db.pool, ledger, holder);
});

test("ER-ISO-05 a bad transaction next to a parked one: the bad one is captured, the parked one waits, progress has no hole", async () => {
  const hostId = hostOfPartition(5);
  const holder = await newHolder(db.pool, ledger, hostId);
  await install(db.pool, holder, [account("mixed-a")]);
  await put(
    hostId,
    [event("mixed-x", 1)],
    [event("mixed-a", 1)],
    [event("mixed-y", 1, { balance: -1 })],
    [event("mixed-z", 1)],
    [event("mixed-a", 2)],
  );
  expect(await drainLane(db.pool, ledger, 5)).toMatchObject({ transactions: 5, parked: 2, captured: 1 });
  expect(await checkConservation(db.pool, ledger)).toEqual([]);
  await finish(db.pool, ledger, holder);
  expect(await rows("SELECT account_id FROM account_t WHERE account_id LIKE 'mixed%' ORDER BY 1")).toEqual([
    { account_id: "mixed-a" },
    { account_id: "mixed-x" },
    { account_id: "mixed-z" },
  ]);
});

test("ER-ISO-06 other aggregates, roots, unordered work and other hosts keep projecting beside a barrier", async () => {
  const [hostId, otherHost] = [hostOfPartition(6), hostOfPartition(6)];
  const [root, otherRoot] = [newId(), newId()];
  const holder = await newHolder(db.pool, ledger, hostId);
  await install(db.pool, holder, [account("iso06"), { type: "GRAPH_ROOT", key: root }]);
  await put(
    hostId,
    [event("iso06", 1)],
    [{ type: "GraphNodePlacedEvent", root, revision: 1, data: { noteId: "iso06-held" } }],
    [event("iso06-other", 1)],
    [{ type: "GraphNodePlacedEvent", root: otherRoot, revision: 1, data: { noteId: "iso06-root" } }],
    [note("iso06-unordered")],
  );
  await put(otherHost, [event("iso06-foreign", 1)]);
  expect(await drainLane(db.pool, ledger, 6)).toMatchObject({ transactions: 6, parked: 2 });
  expect(await rows("SELECT account_id FROM account_t WHERE account_id LIKE 'iso06%' ORDER BY 1")).toEqual([
    { account_id: "iso06-foreign" },
    { account_id: "iso06-other" },
  ]);
  expect(await rows("SELECT note_id FROM note_t WHERE note_id LIKE 'iso06%' ORDER BY 1")).toEqual([
    { note_id: "iso06-root" },
    { note_id: "iso06-unordered" },
  ]);
  await finish(db.pool, ledger, holder);
});

test("ER-ISO-06 without a barrier a batch pays one look and nothing else", async () => {
  const hostId = hostOfPartition(7);
  await put(hostId, [event("cheap", 1)], [event("cheap", 2)]);
  const statements: string[] = [];
  const pool = db.createPool({ max: 1 });
  const client = await pool.connect();
  const query = client.query.bind(client);
  client.query = ((...args: unknown[]) => {
    const [first] = args as [string | { text: string }];
    statements.push(typeof first === "string" ? first : first.text);
    return (query as (...args: unknown[]) => unknown)(...args);
  }) as typeof client.query;
  client.release();
  await drainLane(pool, ledger, 7);
  const barrierLooks = statements.filter((text) => /event_replay_barrier_t|event_projection_deferred/.test(text));
  expect(barrierLooks).toHaveLength(1);
  expect(barrierLooks[0]).toContain("SELECT EXISTS");
});

test("ER-ISO-08 parked bytes can't be changed, and nobody reads them who wasn't granted the column", async () => {
  const hostId = hostOfPartition(8);
  const holder = await newHolder(db.pool, ledger, hostId);
  await install(db.pool, holder, [account("iso08")]);
  await put(hostId, [event("iso08", 1)]);
  await drainLane(db.pool, ledger, 8);
  const refused = async (assignments: string) => {
    const change = db.pool.query(`UPDATE event_projection_deferred_t SET ${assignments} WHERE host_id = $1`, [hostId]);
    return change.then(
      () => "accepted",
      (error: { code?: string }) => error.code,
    );
  };
  expect(await refused("payload_plain = payload_plain || '\\x00'::bytea")).toBe("23514");
  expect(
    await refused(
      "payload_plain = '\\x00'::bytea, payload_digest = encode(sha256('\\x00'::bytea), 'hex'), decrypted_payload_bytes = 1",
    ),
  ).toBe("EA002");
  expect(await refused("dependency_scopes = '[]'")).toBe("EA002");
  expect(await refused("source_order_key = '0'")).toBe("EA002");
  await expect(
    db.pool.query("DELETE FROM event_projection_deferred_t WHERE host_id = $1", [hostId]),
  ).rejects.toMatchObject({
    code: "EA001",
  });
  await db.pool.query("CREATE ROLE iso08_reader").catch(() => undefined);
  const { rows: grants } = await db.pool.query(
    `SELECT has_column_privilege('iso08_reader', 'event_projection_deferred_t', 'payload_plain', 'SELECT') AS reads,
            has_column_privilege('iso08_reader', 'event_projection_deferred_t', 'payload_plain', 'UPDATE') AS writes`,
  );
  expect(grants).toEqual([{ reads: false, writes: false }]);
  await db.pool.query("DROP ROLE IF EXISTS iso08_reader");
  await finish(db.pool, ledger, holder);
});

test("ER-ISO-08 one flipped byte of a parked payload is never projected", async () => {
  const hostId = hostOfPartition(9);
  const holder = await newHolder(db.pool, ledger, hostId);
  await install(db.pool, holder, [account("flip")]);
  await put(hostId, [event("flip", 1)]);
  await drainLane(db.pool, ledger, 9);
  const [stored] = await rows("SELECT * FROM event_projection_deferred_t WHERE host_id = $1", hostId);
  const bytes = Buffer.from(stored.payload_plain);
  bytes[bytes.length - 3] = (bytes[bytes.length - 3] as number) ^ 1;
  const header = {
    hostId,
    projectionName: ledger.projectionName,
    consumerGroup: ledger.consumerGroup,
    transactionId: stored.original_transaction_id,
    contentFingerprint: stored.content_fingerprint,
    eventCount: 1,
    payloadDigest: stored.payload_digest,
  };
  expect(decodeParked(bytes, header)).toEqual({ ok: false, code: "PAYLOAD_DIGEST_MISMATCH" });
  expect(decodeParked(stored.payload_plain.subarray(PARKED_FORMAT.length), header)).toEqual({
    ok: false,
    code: "UNSUPPORTED_PAYLOAD_VERSION",
  });
  expect(decodeParked(stored.payload_plain, { ...header, contentFingerprint: "0".repeat(64) })).toEqual({
    ok: false,
    code: "PAYLOAD_DIGEST_MISMATCH",
  });
  await finish(db.pool, ledger, holder);
});
