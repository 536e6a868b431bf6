import { expect, test } from "vitest";
import { sha256Hex } from "@/server/platform/digest";
import { testDatabase } from "@/server/testing/database";
import { undone, verdict } from "@/server/testing/refusals";
import { insertFailure, insertRepair } from "@/server/testing/replay-rows";

const db = testDatabase();
const host = "01964b05-552a-7c4b-9184-6857e7f3dc5f";

test("ER-PAY-05 the corrected bytes of a repair event are stored once, under a digest the database checks, and never change", async () => {
  const said = await undone(db.pool, async (client) => {
    const failureId = await insertFailure(client, host);
    const repairId = await insertRepair(client, host, failureId);
    const stored = await client.query(
      "SELECT corrected_payload_plain AS bytes, corrected_payload_digest AS digest, corrected_payload_bytes AS size FROM event_repair_event_t WHERE repair_id = $1",
      [repairId],
    );
    const tried = (sql: string) => verdict(client, () => client.query(sql));
    const copied = (change: string) =>
      tried(
        `INSERT INTO event_repair_event_t SELECT (jsonb_populate_record(e, ${change})).* FROM event_repair_event_t e WHERE repair_id = '${repairId}'`,
      );
    const forged = "convert_to('{\"forged\":1}', 'UTF8')";
    return {
      rows: stored.rows,
      // A second version of the same member's bytes has no place.
      again: await copied("'{}'"),
      digest: await copied("jsonb_build_object('event_ordinal', 7, 'corrected_payload_digest', repeat('0', 64))"),
      size: await copied("jsonb_build_object('event_ordinal', 7, 'corrected_payload_bytes', 1)"),
      unchecked: await copied(`jsonb_build_object('event_ordinal', 7, 'corrected_payload_plain', ${forged}::text)`),
      bytes: await tried(`UPDATE event_repair_event_t SET corrected_payload_plain = ${forged}`),
      whole: await tried(
        `UPDATE event_repair_event_t SET corrected_payload_plain = ${forged}, corrected_payload_bytes = octet_length(${forged}),
           corrected_payload_digest = encode(sha256(${forged}), 'hex')`,
      ),
      storage: await tried(
        "UPDATE event_repair_event_t SET corrected_payload_storage = 'DELETED', corrected_payload_plain = NULL",
      ),
      deleted: await tried("DELETE FROM event_repair_event_t"),
      emptied: await tried("TRUNCATE event_repair_event_t CASCADE"),
    };
  });
  const { rows, ...refused } = said;
  expect(rows).toHaveLength(1);
  expect(rows[0].bytes.toString()).toBe('{"corrected":true}');
  expect(rows[0].digest).toBe(sha256Hex(rows[0].bytes));
  expect(rows[0].size).toBe(rows[0].bytes.length);
  expect(refused).toEqual({
    again: "23505 event_repair_event_pk",
    digest: "23514 event_repair_event_payload_ck",
    size: "23514 event_repair_event_payload_ck",
    unchecked: "23514 event_repair_event_payload_ck",
    bytes: expect.stringMatching(/^EA001 /),
    whole: expect.stringMatching(/^EA001 /),
    storage: expect.stringMatching(/^EA001 /),
    deleted: expect.stringMatching(/^EA001 /),
    emptied: expect.stringMatching(/^EA001 /),
  });
});
