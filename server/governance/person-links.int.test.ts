import { execFile } from "node:child_process";
import { beforeAll, expect, test } from "vitest";
import type { CreatePlanResponse, GetReplayResponse } from "@/server/contracts/replay";
import type { ListReplayResponse } from "@/server/contracts/replay-list";
import { inTransaction } from "@/server/platform/db/transaction";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { LEDGER_DDL } from "@/server/testing/ledger-projection";
import { as, call, meet, planRequest, refusal } from "@/server/testing/planning";
import { undone, verdict } from "@/server/testing/refusals";
import { failedUpdates } from "@/server/testing/replay-plans";
import { insertAction, insertFailure, insertRepair } from "@/server/testing/replay-rows";
import { linkPersons, unlinkPersons } from "./person-links";

const db = testDatabase();
const id = (name: string) => `https://issuer.test|${name}`;
const reasons = { reason: "the same employee", by: "ops" };
const link = (one: string, other: string) =>
  inTransaction(db.pool, "link", (tx) => linkPersons(tx, { persons: [id(one), id(other)], ...reasons }));
const unlink = (one: string, other: string) =>
  inTransaction(db.pool, "unlink", (tx) => unlinkPersons(tx, { persons: [id(one), id(other)], ...reasons }));
const who = (hostId: string, name: string) => as(db.pool, { hostId, name });

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});

/** A plan of the first, on a host where all of them have been seen. */
async function planned(requester: string, ...others: string[]) {
  const { hostId, failureIds } = await failedUpdates(db.pool, [newId()]);
  await meet(...[requester, ...others].map((name) => who(hostId, name)));
  const plan = await call<CreatePlanResponse>(who(hostId, requester), "createEventReplayPlan", planRequest(failureIds));
  const decision = { replayRequestId: plan.replayRequestId, planHash: plan.planHash, reason: "checked" };
  return {
    hostId,
    failureIds,
    plan,
    approve: async (name: string) => (await refusal(call(who(hostId, name), "approveEventReplay", decision))).code,
  };
}

test("ER-APR-05 an account that was linked to the requester's, also over a third, can't approve; another person can", async () => {
  const { hostId, plan, approve } = await planned("ann", "ann2", "ann3", "bert");
  expect(await link("ann2", "ann")).toBe("DONE");
  expect(await link("ann3", "ann2")).toBe("DONE");
  expect([await approve("ann2"), await approve("ann3")]).toEqual(["AUTHORIZATION_DENIED", "AUTHORIZATION_DENIED"]);
  const { permissions } = await call<GetReplayResponse>(who(hostId, "ann3"), "getEventReplay", {
    replayRequestId: plan.replayRequestId,
  });
  expect(permissions.approve.allowed).toBe(false);
  const { counts } = await call<ListReplayResponse>(who(hostId, "ann3"), "listEventReplay", { view: "WAITING_FOR_ME" });
  expect(counts).toEqual({ waitingForMe: 0, mineWaiting: 1, notMine: 0 });
  expect(await approve("bert")).toBe("ok");
});

test("ER-APR-05 two persons whose identities differ only by case, and no link, are two", async () => {
  const { approve } = await planned("kim", "Kim");
  expect(await approve("Kim")).toBe("ok");
});

test("ER-APR-05 the database asks when the decision is written, also with the row itself: a plan, an action and a repair of one person stay undecided", async () => {
  const linked = id("dora2");
  const host = newId();
  await meet(who(host, "dora"), who(host, "dora2"));
  await link("dora", "dora2");
  const { plan } = await planned("dora");
  const said = await undone(db.pool, async (client) => {
    const failureId = await insertFailure(client, host);
    await insertRepair(client, host, failureId);
    await insertAction(client, host, "WAIVE_FAILURES", [failureId]);
    // The rows' requester is "alice": make it the linked person's other account.
    await client.query(
      `INSERT INTO person_link_t (link_id, person_a, person_b, reason, linked_by) VALUES ($1, 'alice', $2, 'r', 'b')`,
      [newId(), linked],
    );
    const decided = [
      `event_replay_request_t SET status = 'APPROVED', approved_by = $1, approved_ts = now() WHERE replay_request_id = '${plan.replayRequestId}'`,
      `event_repair_t SET status = 'APPROVED', decision_by = $1, decision_ts = now(), approved_by = $1, approved_ts = now() WHERE host_id = '${host}'`,
      `event_repair_t SET status = 'REJECTED', decision_by = $1, decision_ts = now(), completed_ts = now() WHERE host_id = '${host}'`,
      `event_replay_action_request_t SET status = 'COMPLETED', approved_by = $1, approved_ts = now(), completed_ts = now() WHERE host_id = '${host}'`,
    ];
    const verdicts: string[] = [];
    for (const change of decided)
      verdicts.push(await verdict(client, () => client.query(`UPDATE ${change}`, [linked])));
    verdicts.push(
      await verdict(client, () =>
        client.query(
          `INSERT INTO event_replay_request_t SELECT (jsonb_populate_record(r, jsonb_build_object(
             'replay_request_id', $2::text, 'status', 'PLANNING', 'approved_by', $1::text))).*
             FROM event_replay_request_t r WHERE replay_request_id = $3`,
          [linked, newId(), plan.replayRequestId],
        ),
      ),
    );
    await client.query("SET LOCAL session_replication_role = replica");
    verdicts.push(await verdict(client, () => client.query(`UPDATE ${decided[0]}`, [linked])));
    return verdicts;
  });
  expect(said).toEqual([
    "EA007 event_replay_request_two_persons",
    "EA007 event_repair_approver_two_persons",
    "EA007 event_repair_two_persons",
    "EA007 event_replay_action_request_two_persons",
    "EA007 event_replay_request_two_persons_at_once",
    "EA007 event_replay_request_two_persons",
  ]);
});

test("ER-APR-05 a link counts from the moment it is made, also for a plan that waits already, and an ended one no more", async () => {
  const { approve } = await planned("eva", "eva2", "fred");
  expect(await link("eva", "eva2")).toBe("DONE");
  expect(await approve("eva2")).toBe("AUTHORIZATION_DENIED");
  expect(await unlink("eva2", "eva")).toBe("DONE");
  expect(await approve("eva2")).toBe("ok");
});

test("ER-APR-17 linking and unlinking are audited on every host that has seen one of the accounts, and never forgotten", async () => {
  const [one, two] = [newId(), newId()];
  await meet(who(one, "gus"), who(two, "gus2"));
  expect(await link("gus", "gus2")).toBe("DONE");
  expect(await link("gus2", "gus")).toBe("ALREADY");
  expect(await unlink("gus", "gus2")).toBe("DONE");
  expect(await unlink("gus", "gus2")).toBe("ALREADY");
  const { rows } = await db.pool.query(
    `SELECT host_id, event_name, actor_id, reason, details FROM event_replay_audit_t WHERE host_id IN ($1, $2)
      AND event_name LIKE 'PERSON%' ORDER BY created_ts, audit_id`,
    [one, two],
  );
  const record = {
    actor_id: "people-command:ops",
    reason: reasons.reason,
    details: { personIds: [id("gus"), id("gus2")] },
  };
  for (const event_name of ["PERSON_ACCOUNTS_LINKED", "PERSON_ACCOUNTS_UNLINKED"]) {
    expect(rows.filter((row) => row.event_name === event_name)).toEqual(
      [one, two].sort().map((host_id) => ({ host_id, event_name, ...record })),
    );
  }
  const said = await undone(db.pool, async (client) => [
    await verdict(client, () => client.query("DELETE FROM person_link_t")),
    await verdict(client, () => client.query("UPDATE person_link_t SET person_b = person_b || 'x'")),
    await verdict(client, () =>
      client.query(
        "UPDATE person_link_t SET ended_ts = NULL, ended_by = NULL, end_reason = NULL WHERE ended_ts IS NOT NULL",
      ),
    ),
  ]);
  expect(said.map((text) => text.slice(0, 5))).toEqual(["EA001", "EA002", "EA002"]);
});

test("an account that never signed in, or one twice, is linked to nobody", async () => {
  await meet(who(newId(), "hal"));
  expect(await link("hal", "hall")).toBe("NEVER_SEEN");
  expect(await link("hal", "hal")).toBe("SAME_IDENTITY");
});

test("ER-APR-05 a linked account is no eligible approver: who has nobody else is told at once", async () => {
  const { plan } = await planned("ida", "ida2");
  expect(plan.warnings.map(({ code }) => code)).not.toContain("NO_ELIGIBLE_APPROVER");
  await link("ida", "ida2");
  const { plan: alone } = await planned("ida", "ida2");
  expect(alone.warnings.map(({ code }) => code)).toContain("NO_ELIGIBLE_APPROVER");
});

test("the people command links by name, says so, and refuses a wrong call with exit 2", async () => {
  await meet(who(newId(), "jo"), who(newId(), "jo2"));
  const run = (...args: string[]) =>
    new Promise<{ code: number; text: string }>((resolve) => {
      const env = { ...process.env, DATABASE_URL: db.url };
      execFile("node", ["--import", "tsx", "server/cli/people.ts", ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, text: `${stdout}${stderr}` }),
      );
    });
  expect(await run("link", id("jo"), id("nobody"), "--reason", "x")).toMatchObject({ code: 2 });
  expect(await run("link", id("jo"), id("jo2"), "--reason", "x", "--by", "ops")).toEqual({
    code: 0,
    text: "They are one person from now on.\n",
  });
  expect((await run("list")).text).toContain(`${id("jo")} = ${id("jo2")}`);
}, 120_000);
