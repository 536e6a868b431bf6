import { beforeEach, expect, test } from "vitest";
import { audit } from "@/server/governance/audit";
import { inTransaction } from "@/server/platform/db/transaction";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { verifyAuditChain } from "./verify-chain";

const db = testDatabase();
let hostId: string;

beforeEach(() => {
  hostId = newId();
});

const write = (reason = "because") =>
  inTransaction(db.pool, "test", (tx) =>
    audit(tx, {
      hostId,
      event: "EVENT_REPLAY_PLAN_CREATED",
      actor: { type: "USER", personId: "i|ä" },
      replayRequestId: newId(),
      reason,
      details: { z: 1, a: "2", failureIds: [newId()] },
    }),
  );

const rulesOf = async () =>
  (await verifyAuditChain(db.pool)).faults.filter((fault) => fault.hostId === hostId).map((fault) => fault.rule);

/** What only the owner of the tables can do: guards off, change, guards on. */
async function tamper(sql: string): Promise<void> {
  const client = await db.pool.connect();
  const tables = ["event_replay_audit_t", "event_replay_audit_chain_t", "event_replay_audit_head_t"];
  try {
    await client.query("BEGIN");
    for (const table of tables) await client.query(`ALTER TABLE ${table} DISABLE TRIGGER ALL`);
    await client.query(sql.replaceAll(":host", `'${hostId}'`));
    for (const table of tables) await client.query(`ALTER TABLE ${table} ENABLE TRIGGER ALL`);
    await client.query("COMMIT");
  } finally {
    client.release();
  }
}

const nth = (n: number) =>
  `(SELECT audit_id FROM event_replay_audit_chain_t WHERE host_id = :host AND chain_no = ${n})`;

test("ER-APR-17 every audit record is a link of its host's chain, whichever transaction wrote it and however many at once", async () => {
  await Promise.all(Array.from({ length: 40 }, () => write()));
  await inTransaction(db.pool, "test", async (tx) => {
    for (const event of ["EVENT_REPLAY_PLAN_APPROVED", "EVENT_REPLAY_EXECUTION_REQUESTED"] as const)
      await audit(tx, { hostId, event, actor: { type: "SYSTEM" }, replayRequestId: newId() });
  });
  expect(await rulesOf()).toEqual([]);
  const { heads } = await verifyAuditChain(db.pool);
  expect(heads.find((head) => head.hostId === hostId)?.chainNo).toBe(42);
});

test("ER-APR-17 a record that is edited, deleted, put in or moved is found", async () => {
  const edits = {
    ALTERED: `UPDATE event_replay_audit_t SET reason = 'other' WHERE host_id = :host AND audit_id = ${nth(2)}`,
    RECORD_MISSING: `DELETE FROM event_replay_audit_t WHERE host_id = :host AND audit_id = ${nth(3)}`,
    NOT_LINKED: `INSERT INTO event_replay_audit_t (host_id, audit_id, event_name, actor_type, actor_id)
                 VALUES (:host, gen_random_uuid(), 'EVENT_REPLAY_PLAN_APPROVED', 'USER', 'i|x')`,
  };
  for (const [rule, sql] of Object.entries(edits)) {
    hostId = newId();
    for (let n = 0; n < 5; n++) await write();
    expect(await rulesOf()).toEqual([]);
    await tamper(sql);
    expect(await rulesOf()).toEqual([rule]);
  }
  hostId = newId();
  for (let n = 0; n < 5; n++) await write();
  await tamper(
    `UPDATE event_replay_audit_t SET created_ts = created_ts - interval '1 day' WHERE host_id = :host AND audit_id = ${nth(4)}`,
  );
  expect(await rulesOf()).toEqual(["ALTERED"]);
});

test("ER-APR-17 a link taken out with its record breaks the chain, and one cut off at the end misses its head", async () => {
  for (let n = 0; n < 5; n++) await write();
  await tamper(`DELETE FROM event_replay_audit_t WHERE host_id = :host AND audit_id = ${nth(5)};
                DELETE FROM event_replay_audit_chain_t WHERE host_id = :host AND chain_no = 5`);
  expect(await rulesOf()).toEqual(["CUT_OFF"]);
  await tamper(`DELETE FROM event_replay_audit_t WHERE host_id = :host AND audit_id = ${nth(2)};
                DELETE FROM event_replay_audit_chain_t WHERE host_id = :host AND chain_no = 2`);
  expect(await rulesOf()).toContain("LINK_MISSING");
});

test("ER-APR-17 a noted head shows that the chain was cut off together with its head, or written anew", async () => {
  for (let n = 0; n < 3; n++) await write();
  const noted = (await verifyAuditChain(db.pool)).heads.find((head) => head.hostId === hostId)!;
  await write();
  expect((await verifyAuditChain(db.pool, [noted])).faults).not.toContainEqual(
    expect.objectContaining({ hostId, rule: "ANCHOR_LOST" }),
  );
  await tamper(`DELETE FROM event_replay_audit_t WHERE host_id = :host AND audit_id IN (${nth(3)}, ${nth(4)});
    DELETE FROM event_replay_audit_chain_t WHERE host_id = :host AND chain_no > 2;
    UPDATE event_replay_audit_head_t h SET (chain_no, link_digest) = (SELECT chain_no, link_digest
      FROM event_replay_audit_chain_t c WHERE c.host_id = :host AND chain_no = 2) WHERE host_id = :host`);
  expect(await rulesOf()).toEqual([]);
  expect((await verifyAuditChain(db.pool, [noted])).faults).toContainEqual({
    rule: "ANCHOR_LOST",
    hostId,
    chainNo: 3,
    auditId: null,
  });
});

test("ER-APR-17 neither records nor links nor heads are written, changed or removed by hand", async () => {
  await write();
  for (const sql of [
    "UPDATE event_replay_audit_t SET reason = 'x' WHERE host_id = :host",
    "DELETE FROM event_replay_audit_t WHERE host_id = :host",
    "TRUNCATE event_replay_audit_t",
    "INSERT INTO event_replay_audit_chain_t SELECT host_id, chain_no + 1, gen_random_uuid(), link_digest, link_digest FROM event_replay_audit_head_t WHERE host_id = :host",
    "UPDATE event_replay_audit_chain_t SET chain_no = 7 WHERE host_id = :host",
    "DELETE FROM event_replay_audit_chain_t WHERE host_id = :host",
    "TRUNCATE event_replay_audit_chain_t",
    "UPDATE event_replay_audit_head_t SET chain_no = chain_no + 1 WHERE host_id = :host",
    "DELETE FROM event_replay_audit_head_t WHERE host_id = :host",
    "TRUNCATE event_replay_audit_head_t",
  ]) {
    await expect(db.pool.query(sql.replaceAll(":host", `'${hostId}'`)), sql).rejects.toMatchObject({ code: "EA001" });
  }
  expect(await rulesOf()).toEqual([]);
});

test("ER-APR-17 the chain's lock is the last of a transaction: one that has written audit and works on holds up nobody", async () => {
  const slow = await db.pool.connect();
  try {
    await slow.query("BEGIN");
    await slow.query(
      `INSERT INTO event_replay_audit_t (host_id, audit_id, event_name, actor_type, actor_id) VALUES ($1, $2, 'EVENT_REPLAY_PLAN_CREATED', 'USER', 'i|slow')`,
      [hostId, newId()],
    );
    await inTransaction(
      db.pool,
      "test",
      (tx) =>
        audit(tx, { hostId, event: "EVENT_REPLAY_PLAN_APPROVED", actor: { type: "SYSTEM" }, replayRequestId: newId() }),
      { lockTimeoutMs: 500 },
    );
    await slow.query("COMMIT");
  } finally {
    slow.release();
  }
  expect(await rulesOf()).toEqual([]);
});
