import { Counter, Histogram } from "prom-client";
import { metrics } from "@/server/platform/metrics";

type Label = "surface" | "operation" | "code";

// The module may be loaded once per route bundle; the registry is one per process.
const answers =
  (metrics.getSingleMetric("event_admin_operations_total") as Counter<Label> | undefined) ??
  new Counter<Label>({
    name: "event_admin_operations_total",
    help: "Answered operations by surface, published operation and code (OK or a code of the catalog).",
    labelNames: ["surface", "operation", "code"],
    registers: [metrics],
  });
const durations =
  (metrics.getSingleMetric("event_admin_operation_seconds") as Histogram<Label> | undefined) ??
  new Histogram<Label>({
    name: "event_admin_operation_seconds",
    help: "Seconds from request to answer by surface and published operation.",
    labelNames: ["surface", "operation"],
    buckets: [0.005, 0.02, 0.05, 0.1, 0.3, 1, 5, 30],
    registers: [metrics],
  });

/** `operation` is a registered name or "unknown": a caller can't create a label (ER-OBS-07). */
export function countOperation(surface: string, operation: string, code: string, seconds: number): void {
  answers.inc({ surface, operation, code });
  durations.observe({ surface, operation }, seconds);
}
