import { Counter } from "prom-client";
import { metrics } from "@/server/platform/metrics";

/** Counters of one live processor; only its own process registers them, so that no other shows a false zero. */
const projectedTransactions = new Counter({
  name: "event_admin_projected_transactions_total",
  help: "Transactions projected live by this process.",
  registers: [metrics],
});
const projectedEvents = new Counter({
  name: "event_admin_projected_events_total",
  help: "Events of settled live batches of this process.",
  registers: [metrics],
});
const capturedFailures = new Counter({
  name: "event_admin_captured_failures_total",
  help: "Failed transactions archived by this process.",
  registers: [metrics],
});
const parkedTransactions = new Counter({
  name: "event_admin_parked_transactions_total",
  help: "Transactions parked behind a barrier by this process.",
  registers: [metrics],
});
const captureFailures = new Counter({
  name: "event_admin_capture_failures_total",
  help: "Failures the archive refused. The source does not move past them.",
  labelNames: ["code"],
  registers: [metrics],
});

export const countProjected = (transactions: number, events: number) => {
  projectedTransactions.inc(transactions);
  projectedEvents.inc(events);
};
export const countCaptured = (failures: number) => capturedFailures.inc(failures);
export const countParked = (transactions: number) => parkedTransactions.inc(transactions);
export const countCaptureFailure = (code: string) => captureFailures.inc({ code });
