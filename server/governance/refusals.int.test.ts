import { beforeEach, expect, test } from "vitest";
import type { ErrorCode } from "@/server/contracts/errors";
import { createPool } from "@/server/platform/db/pool";
import type { Actor } from "@/server/platform/http/operation-context";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { RefusalRecorder } from "./refusals";

const db = testDatabase();
let actor: Actor;
let minutes: (() => void)[];
let recorder: RefusalRecorder;

beforeEach(() => {
  actor = { personId: `i|${newId()}`, userId: "u", hostId: newId(), roles: ["cnry"], name: "cnry", human: true };
  minutes = [];
  recorder = new RefusalRecorder(db.pool, (work) => minutes.push(work));
});

const refuse = (operation = "readThing", code: ErrorCode = "AUTHORIZATION_DENIED", who = actor) =>
  recorder.record(who, { operation, surface: "rest", code, requestId: newId() });

async function rows(atLeast: number): Promise<Record<string, unknown>[]> {
  const read = async () =>
    (
      await db.pool.query<{ row: Record<string, unknown> }>(
        `SELECT details || jsonb_build_object('event', event_name, 'actor', actor_type || ' ' || actor_id) AS row
           FROM event_replay_audit_t WHERE host_id = $1 ORDER BY created_ts, audit_id`,
        [actor.hostId],
      )
    ).rows.map(({ row }) => row);
  await expect.poll(async () => (await read()).length, { timeout: 5_000 }).toBeGreaterThanOrEqual(atLeast);
  return await read();
}

test("ER-APR-17 a refused call leaves who, what and which code; a thousand more in the minute leave one record with their number", async () => {
  await refuse();
  for (let n = 0; n < 1_000; n++) await refuse();
  expect(await rows(1)).toHaveLength(1);
  minutes.shift()?.();
  const written = await rows(2);
  expect(written.map((row) => row.calls)).toEqual([1, 1_000]);
  expect(written[0]).toMatchObject({
    event: "CALL_REFUSED",
    actor: `USER ${actor.personId}`,
    operation: "readThing",
    surface: "rest",
    code: "AUTHORIZATION_DENIED",
  });
  expect(JSON.stringify(written)).not.toContain("cnry");
});

test("ER-APR-17 the minute after a counted one is open too: never two records a minute, and a quiet one is forgotten", async () => {
  await refuse();
  await refuse();
  minutes.shift()?.();
  await rows(2);
  await refuse();
  expect(await rows(2)).toHaveLength(2);
  minutes.shift()?.();
  expect((await rows(3)).map((row) => row.calls)).toEqual([1, 1, 1]);
  minutes.shift()?.();
  expect(minutes).toHaveLength(0);
  await refuse();
  expect(await rows(4)).toHaveLength(4);
});

test("ER-APR-17 other persons, operations and codes are other records; what isn't about the person is none", async () => {
  await refuse();
  await refuse("writeThing");
  await refuse("readThing", "RATE_LIMITED");
  await refuse("readThing", "AUTHORIZATION_DENIED", { ...actor, personId: "i|machine", human: false });
  for (const code of ["INVALID_REQUEST", "FAILURE_NOT_FOUND", "INTERNAL", "STALE_PLAN"] as const)
    await refuse("readThing", code);
  const written = await rows(4);
  expect(written).toHaveLength(4);
  expect(written.at(-1)?.actor).toBe("WORKER i|machine");
});

test("ER-APR-17 a refusal stays a refusal when it can't be recorded", async () => {
  const gone = createPool("postgres://nobody@127.0.0.1:1/none", { max: 1 });
  const offline = new RefusalRecorder(gone, () => undefined);
  await offline.record(actor, { operation: "x", surface: "rest", code: "AUTHORIZATION_DENIED", requestId: newId() });
  await gone.end();
});
