/** Older than this, a waiting event says that no projector makes progress. */
const LAG_LIMIT_SECONDS = 30;

export type CaptureHealth = { readonly state: "HEALTHY" | "DEGRADED" | "STOPPED"; readonly sentence: string };

/** Whether new failures are captured now: does a projector run, does it progress, what holds it. */
export function captureHealth(facts: {
  readonly running: number;
  readonly retrying: number;
  readonly code: string | null;
  readonly lagSeconds: number;
  readonly pending: number;
}): CaptureHealth {
  if (facts.running === 0) {
    return facts.pending === 0
      ? { state: "STOPPED", sentence: "No projector is running. Nothing waits yet." }
      : { state: "STOPPED", sentence: "No projector is running. Appended events wait; nothing is lost." };
  }
  if (facts.retrying > 0) {
    const code = facts.code === null ? "" : ` (${facts.code})`;
    return { state: "DEGRADED", sentence: `A projector tries again${code}. Its source waits; nothing is lost.` };
  }
  if (facts.lagSeconds > LAG_LIMIT_SECONDS) {
    return { state: "DEGRADED", sentence: "The projection is behind. Events wait in order; nothing is lost." };
  }
  return { state: "HEALTHY", sentence: "Every event is projected or captured within seconds." };
}
