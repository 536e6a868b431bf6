import { afterEach, expect, test, vi } from "vitest";
import { testDatabase } from "@/server/testing/database";
import { WakeUp } from "./wake-up";

const db = testDatabase();
const open: WakeUp[] = [];
const HOUR_MS = 3_600_000;

async function start(pollMs: number, reconnectMs = 10): Promise<WakeUp> {
  const wakeUp = new WakeUp(db.url, "test_channel", pollMs, reconnectMs);
  open.push(wakeUp);
  await wakeUp.start();
  await wakeUp.wait(); // the catch-up signal of a fresh listener
  return wakeUp;
}
afterEach(async () => {
  for (const wakeUp of open.splice(0)) await wakeUp.stop();
});

test("a notification ends the wait long before the poll would", async () => {
  const wakeUp = await start(HOUR_MS);
  const waiting = wakeUp.wait();
  await db.pool.query("NOTIFY test_channel");
  await waiting;
});

test("a notification that came while nobody waited is not lost", async () => {
  const wakeUp = await start(HOUR_MS);
  const first = wakeUp.wait();
  await db.pool.query("NOTIFY test_channel");
  await first;
  wakeUp.signal();
  await wakeUp.wait();
});

test("without any notification the wait ends with the poll", async () => {
  const wakeUp = await start(5);
  await wakeUp.wait();
});

test("a listener that the server ended comes back and catches up", async () => {
  const wakeUp = await start(HOUR_MS);
  const { rowCount } = await db.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'event-admin:live-listener'`,
  );
  expect(rowCount).toBe(1);
  await wakeUp.wait(); // the catch-up after reconnecting
  await vi.waitFor(() => expect(wakeUp.listening).toBe(true));
  const waiting = wakeUp.wait();
  await db.pool.query("NOTIFY test_channel");
  await waiting;
});
