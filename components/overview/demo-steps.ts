/** The way through the demo, from a projection that works to one that works again. */
export const DEMO_STEPS = [
  "Break a projection",
  "Find the cause",
  "Fix the handler",
  "Plan",
  "Approve as a second person, run",
] as const;

/**
 * Which step comes next. While the defect is on, its cause is to be found; once it is off, what it left open is planned, and
 * a plan is approved and run. With nothing open it starts again.
 */
export function demoStep(now: { broken: boolean; open: number; planned: number }): number {
  if (now.broken) return 1;
  if (now.open === 0) return 0;
  return now.planned > 0 ? 4 : 3;
}
