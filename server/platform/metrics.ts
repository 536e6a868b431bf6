import { Counter, Registry } from "prom-client";

/**
 * The process's metrics. Labels are bounded sets of our own words (operation, code, SQLSTATE): never a host, event,
 * transaction, request or failure id, and never an event type that a producer can invent (ER-OBS-07).
 */
export const metrics = new Registry();

const transactionRetries = new Counter({
  name: "event_admin_transaction_retries_total",
  help: "Transactions run again after a serialization failure or deadlock.",
  labelNames: ["transaction", "sqlstate"],
  registers: [metrics],
});
const lockOrderViolations = new Counter({
  name: "event_admin_lock_order_violations_total",
  help: "Locks taken against the declared order. Anything but zero is a defect.",
  registers: [metrics],
});
const poolErrors = new Counter({
  name: "event_admin_pool_errors_total",
  help: "Idle database connections that ended with an error.",
  registers: [metrics],
});

export const countTransactionRetry = (transaction: string, sqlstate: string) =>
  transactionRetries.inc({ transaction, sqlstate });
export const countLockOrderViolation = () => lockOrderViolations.inc();
export const countPoolError = () => poolErrors.inc();
