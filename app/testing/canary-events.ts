import type pg from "pg";
import { expect } from "vitest";
import { ensureProgressRows } from "@/server/event-replay/live/outbox-lane";
import { inTransaction } from "@/server/platform/db/transaction";
import { partitionOfHost } from "@/server/platform/ids";
import { withDemoDefect } from "@/server/portal/demo/defect";
import { DEMO_HOST_ID } from "@/server/portal/demo/identities";
import { portalProjection } from "@/server/portal/portal-projection";
import type { TestDatabase } from "@/server/testing/database";
import { drainLane } from "@/server/testing/drain-lane";
import { bearer, call } from "./test-client";

/** In every text value of every event that this file appends; nothing that leaves may hold it. */
export const CANARY = "cnry5b7e";
const CONFIG_ID = "0193f2d0-0000-7000-8000-00000000c001";

export const canaryEvent = (
  n: number,
  type: string,
  aggregatetype: string,
  subject: string,
  version: number,
  data: object,
) => ({
  specversion: "1.0",
  id: `0193f2d0-0000-7000-8000-0000000${String(10_000 + n)}`,
  source: `urn:${CANARY}`,
  type,
  time: "2026-01-02T03:04:05Z",
  subject,
  host: DEMO_HOST_ID,
  user: "0196f0c2-0a11-7c01-8a01-5d1b6c0e4a01",
  nonce: n,
  aggregatetype,
  aggregateversion: version,
  data: { hostId: DEMO_HOST_ID, ...data },
});

/**
 * Appends events full of the canary and projects them with the demo's defect on, so that some are captured whole. The
 * projector has its own role's rights. Returns the captured failures.
 */
export async function seedCanary(db: TestDatabase): Promise<string[]> {
  const headers = await bearer("alice");
  await db.pool.query("INSERT INTO demo_defect_t (id, enabled, since_ts) VALUES (1, true, now())");
  const person = {
    userId: CONFIG_ID,
    email: `${CANARY}@example.org`,
    entityId: CANARY,
    userType: CANARY,
    language: "en",
  };
  const batches = [
    [canaryEvent(1, "RoleCreatedEvent", "Role", "night-watch", 1, { roleId: "night-watch", roleDesc: CANARY })],
    [
      canaryEvent(2, "RoleUserCreatedEvent", "RoleUser", "night-watch|u1", 1, {
        roleId: "night-watch",
        userId: "u1",
        note: CANARY,
      }),
    ],
    [canaryEvent(3, "UserUpdatedEvent", "User", CONFIG_ID, 1, { ...person, firstName: CANARY, address: CANARY })],
    [
      canaryEvent(4, "ConfigPropertyUpdatedEvent", "ConfigProperty", CONFIG_ID, 1, {
        propertyId: CONFIG_ID,
        propertyName: CANARY,
      }),
    ],
  ];
  for (const events of batches) {
    const answer = await call.events(events, headers);
    expect(answer.status, answer.text).toBe(200);
  }
  const projection = withDemoDefect(portalProjection());
  const projector = db.poolAs("event_admin_projector");
  await inTransaction(projector, "test-lanes", (tx) => ensureProgressRows(tx, projection));
  await drainLane(projector, projection, partitionOfHost(DEMO_HOST_ID));
  return failuresOf(db.pool);
}

async function failuresOf(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ failure_id: string }>("SELECT failure_id FROM event_failure_transaction_t");
  return rows.map((row) => row.failure_id);
}

/** Every text, JSON and list column beside the bytes, the store's JSON and the projection that holds the canary; none may. */
export async function storedCanaries(pool: pg.Pool): Promise<string[]> {
  const { rows: columns } = await pool.query<{ table_name: string; column_name: string }>(
    `SELECT table_name, column_name FROM information_schema.columns
      WHERE table_schema = 'public' AND (table_name LIKE 'event\\_%' OR table_name IN
            ('notification_t', 'dead_letter_queue', 'outbox_message_t', 'projection_scope_t', 'person_t', 'person_link_t',
             'webhook_delivery_t', 'processor_status_t'))
        AND data_type IN ('character varying', 'text', 'jsonb', 'ARRAY')`,
  );
  expect(columns.length).toBeGreaterThan(80);
  const mayHold = new Set(["event_store_t.payload", "event_store_t.metadata"]);
  const found: string[] = [];
  for (const { table_name, column_name } of columns) {
    if (mayHold.has(`${table_name}.${column_name}`)) continue;
    const { rows } = await pool.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM ${table_name} WHERE ${column_name}::text LIKE $1`,
      [`%${CANARY}%`],
    );
    if (rows[0]?.n !== 0) found.push(`${table_name}.${column_name}`);
  }
  return found;
}
