import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import type { GetReplayResponse } from "@/server/contracts/replay";
import { processReplay } from "@/server/event-replay/execution/process-event-replay";
import { newId } from "@/server/platform/ids";
import { testDatabase } from "@/server/testing/database";
import { LEDGER_DDL, ledgerProjection } from "@/server/testing/ledger-projection";
import { as, call } from "@/server/testing/planning";
import { failedUpdates, seedPlan } from "@/server/testing/replay-plans";

const db = testDatabase();

beforeAll(async () => {
  await db.pool.query(LEDGER_DDL);
});

/** The pool, with `meanwhile` run once between two statements: right before the one of this name. */
function interrupted(pool: pg.Pool, statement: string, meanwhile: () => Promise<unknown>): pg.Pool {
  let done = false;
  const bound = (target: object, name: string | symbol) => {
    const value = Reflect.get(target, name);
    return typeof value === "function" ? value.bind(target) : value;
  };
  const wrap = (client: pg.PoolClient) =>
    new Proxy(client, {
      get: (target, name) =>
        name !== "query"
          ? bound(target, name)
          : async (...given: [{ name?: string }]) => {
              if (!done && given[0].name === statement) {
                done = true;
                await meanwhile();
              }
              return bound(target, name)(...given);
            },
    });
  return new Proxy(pool, {
    get: (target, name) => (name === "connect" ? async () => wrap(await target.connect()) : bound(target, name)),
  });
}

test("ER-API-06 a request is read at one moment: an execution that ends in between leaves no answer that contradicts itself", async () => {
  const captured = await failedUpdates(db.pool, [newId()], 2);
  const plan = await seedPlan(db.pool, captured, { status: "INSTALLING_BARRIER" });
  const deps = { pool: db.createPool(), projection: ledgerProjection() };
  const read = async (pool: pg.Pool) => {
    const ctx = as(pool, { hostId: captured.hostId, name: "alice" });
    const seen = await call<GetReplayResponse>(ctx, "getEventReplay", { replayRequestId: plan.replayRequestId });
    const { status, totals, attempts, lanes } = seen;
    return [status, totals.succeeded, attempts.length, lanes.map((lane) => lane.verdict)];
  };
  const pool = interrupted(db.pool, "load_request_barriers", () => processReplay(deps, plan));
  expect(await read(pool)).toEqual(["INSTALLING_BARRIER", 0, 0, ["UNCHANGED"]]);
  expect(await read(db.pool)).toEqual(["SUCCEEDED", 2, 2, ["AS_PLANNED"]]);
});
