import type pg from "pg";
import { sha256Hex } from "@/server/platform/digest";
import { type Account, createAccount } from "./account-projection";
import { atMost, compare, type Figure, interleave, median, seconds, whole } from "./measure";
import { upsertOne } from "./plain-drain";
import { approvedPlan, captureFailures, executePlan, type Plan, withPool } from "./replay-plans";
import type { Size } from "./size";

const LANE = 8;
/** Plans over independent scopes that run at once, each on a lane of its own. */
const SIDE_BY_SIDE = [10, 11, 12, 13] as const;
const ITEMS_PER_SECOND = 2_000;

/**
 * Goal 12: a plan from claim to end, barriers, drain and release included, against the same item written by hand: one
 * statement after the other for everything that an item has to say. Items a second, five events each.
 */
export async function measureReplay(databaseUrl: string, size: Size): Promise<Figure[]> {
  return withPool(databaseUrl, 12, async (pool) => {
    const [ours, hand] = [await createAccount(pool, "replay"), await createAccount(pool, "replay_hand")];
    const prepared = new Map<string, Plan[]>();
    const plan = async (account: Account, lane: number) =>
      approvedPlan(pool, account, lane, await captureFailures(pool, account, lane, size.items));
    const take = (name: string) => prepared.get(name) as Plan[];
    const rates = await interleave(
      size.rounds,
      [
        {
          name: "one plan",
          run: async () => size.items / (await seconds(() => executePlan(pool, ours, take("one plan")[0] as Plan))),
        },
        {
          name: "by hand",
          run: async () => size.items / (await seconds(() => executeByHand(pool, hand, take("by hand")[0] as Plan))),
        },
        {
          name: "four plans",
          async run() {
            const run = () => Promise.all(take("four plans").map((one) => executePlan(pool, ours, one)));
            return (SIDE_BY_SIDE.length * size.items) / (await seconds(run));
          },
        },
      ],
      async () => {
        prepared.set("one plan", [await plan(ours, LANE)]);
        prepared.set("by hand", [await plan(hand, LANE)]);
        const four: Plan[] = [];
        for (const lane of SIDE_BY_SIDE) four.push(await plan(ours, lane));
        prepared.set("four plans", four);
        await pool.query("ANALYZE");
      },
    );
    const four = rates.get("four plans") ?? [];
    const figure = `${whole(median(four))} items/s of ${whole(ITEMS_PER_SECOND)}`;
    return [
      compare(12, "replay of a plan, to items written by hand", rates, ["one plan", "by hand"], 1.7, "items/s"),
      {
        ...atMost(12, "four plans at once, to the rate aimed at", figure, ratesTo(four), "x", 1),
        direction: "least",
        met: median(ratesTo(four)) >= 1,
      },
    ];
  });
}

const ratesTo = (rates: readonly number[]) => rates.map((rate) => rate / ITEMS_PER_SECOND);

type Member = {
  event_id: string;
  aggregate_id: string;
  aggregate_version: number;
  payload_digest: string;
  payload_plain: Buffer;
};

/** An item as one would write it: attempt, locks, bytes and digests, each row by its own named statement, then the outcome. */
async function executeByHand(pool: pg.Pool, { definition, table }: Account, plan: Plan): Promise<void> {
  const { hostId, replayRequestId } = plan;
  const key = [definition.projectionName, definition.consumerGroup];
  const client = await pool.connect();
  const run = async (name: string, text: string, values: unknown[]) =>
    (await client.query({ name: `hand_${name}`, text, values })).rows;
  try {
    const request = [hostId, replayRequestId];
    await run(
      "running",
      "UPDATE event_replay_request_t SET status = 'RUNNING', fencing_token = 1 WHERE host_id = $1 AND replay_request_id = $2",
      request,
    );
    await run("lease", LEASE, request);
    const items = await run("items", ITEMS, request);
    for (const { item_ordinal: ordinal, failure_id: failureId } of items) {
      await client.query("BEGIN");
      await run(
        "fence",
        "SELECT fencing_token FROM event_replay_request_t WHERE host_id = $1 AND replay_request_id = $2 FOR SHARE",
        request,
      );
      await run("renew", RENEW, request);
      await run(
        "item",
        "UPDATE event_replay_item_t SET status = 'RUNNING', attempt_count = 1, current_fencing_token = 1 WHERE host_id = $1 AND replay_request_id = $2 AND item_ordinal = $3 AND status = 'PENDING'",
        [...request, ordinal],
      );
      const [attempt] = await run("attempt", ATTEMPT, [...request, ordinal]);
      await run("audit", AUDIT, [...request, failureId, "EVENT_REPLAY_ATTEMPT_STARTED"]);
      await client.query("COMMIT");
      await client.query("BEGIN");
      await run(
        "fence",
        "SELECT fencing_token FROM event_replay_request_t WHERE host_id = $1 AND replay_request_id = $2 FOR SHARE",
        request,
      );
      await run(
        "failure",
        "SELECT status FROM event_failure_transaction_t WHERE host_id = $1 AND failure_id = $2 FOR UPDATE",
        [hostId, failureId],
      );
      for (const member of (await run("members", MEMBERS, [hostId, failureId])) as Member[]) {
        if (sha256Hex(member.payload_plain) !== member.payload_digest) throw new Error("a digest does not match");
        const { data, time } = JSON.parse(member.payload_plain.toString("utf8"));
        const row = [member.aggregate_id, data.owner, Math.abs(data.balance), member.aggregate_version, time];
        const scope = `Account:${member.aggregate_id}`;
        await run(`upsert_${table}`, upsertOne(table), [...row, hostId, ...key, scope]);
        await run(
          "notify",
          "UPDATE notification_t SET status = 'SUCCEEDED', error = NULL, process_ts = now() WHERE host_id = $1 AND id = $2",
          [hostId, member.event_id],
        );
      }
      await run("resolve", RESOLVE, [hostId, failureId, replayRequestId]);
      await run(
        "ended",
        "UPDATE event_replay_attempt_t SET result = 'SUCCEEDED', projection_committed = true, completed_ts = now() WHERE host_id = $1 AND replay_attempt_id = $2",
        [hostId, attempt.id],
      );
      await run(
        "done",
        "UPDATE event_replay_item_t SET status = 'SUCCEEDED' WHERE host_id = $1 AND replay_request_id = $2 AND item_ordinal = $3",
        [...request, ordinal],
      );
      await run("audit", AUDIT, [...request, failureId, "EVENT_REPLAY_ATTEMPT_SUCCEEDED"]);
      await client.query("COMMIT");
    }
    await run(
      "end",
      "UPDATE event_replay_request_t SET status = 'SUCCEEDED', completed_ts = now() WHERE host_id = $1 AND replay_request_id = $2",
      request,
    );
  } finally {
    client.release();
  }
}

const LEASE = `INSERT INTO event_replay_lease_t (host_id, replay_request_id, lease_owner, lease_epoch, fencing_token, heartbeat_ts, expires_ts)
  VALUES ($1, $2, 'bench', 1, 1, now(), now() + interval '60 seconds')`;
const RENEW = `UPDATE event_replay_lease_t SET heartbeat_ts = clock_timestamp(), expires_ts = clock_timestamp() + interval '60 seconds'
  WHERE host_id = $1 AND replay_request_id = $2 AND fencing_token = 1`;
const ITEMS = `SELECT item_ordinal, failure_id FROM event_replay_item_t WHERE host_id = $1 AND replay_request_id = $2
  ORDER BY item_ordinal`;
const ATTEMPT = `INSERT INTO event_replay_attempt_t (host_id, replay_attempt_id, replay_request_id, item_ordinal, attempt_number,
    worker_id, fencing_token) VALUES ($1, gen_random_uuid(), $2, $3, 1, 'bench', 1) RETURNING replay_attempt_id AS id`;
const AUDIT = `INSERT INTO event_replay_audit_t (host_id, audit_id, event_name, actor_type, actor_id, replay_request_id, failure_id, details)
  VALUES ($1, gen_random_uuid(), $4, 'WORKER', 'bench', $2, $3, '{}')`;
const MEMBERS = `SELECT event_id, aggregate_id, aggregate_version, payload_digest, payload_plain FROM event_failure_event_t
  WHERE host_id = $1 AND failure_id = $2 ORDER BY event_ordinal`;
const RESOLVE = `UPDATE event_failure_transaction_t SET status = 'RESOLVED', resolved_ts = now(), resolved_by_request_id = $3,
    resolution_code = 'RESOLVED_BY_EXACT_REPLAY' WHERE host_id = $1 AND failure_id = $2 AND status = 'OPEN'`;
