export type TimelineFacts = {
  readonly status: "OPEN" | "RESOLVED" | "WAIVED";
  readonly firstFailedTs: string;
  readonly resolvedTs: string | null;
  readonly resolutionCode: string | null;
  readonly deliveries: readonly {
    readonly sourceProcessor: "DATABASE" | "KAFKA";
    readonly observationCount: number;
    readonly firstObservedTs: string;
    readonly lastObservedTs: string;
  }[];
  /** Tries to replay it, by plans that may write. `ts`: when it ended, of a running one when it began. */
  readonly attempts: readonly ReplayAttempt[];
};

export type ReplayAttempt = {
  readonly replayRequestId: string;
  readonly attemptNumber: number;
  readonly result: "RUNNING" | "SUCCEEDED" | "FAILED" | "ABANDONED";
  readonly errorCode: string | null;
  readonly ts: string;
};

export type TimelineEntry = {
  readonly ts: string;
  readonly kind: "CAPTURED" | "DELIVERED_AGAIN" | "REPLAYED" | "RESOLVED" | "WAIVED";
  readonly sentence: string;
  /** The request the sentence names. */
  readonly replayRequestId?: string;
};

const SOURCE = { DATABASE: "the outbox", KAFKA: "Kafka" } as const;

const OUTCOME = { RUNNING: "running", SUCCEEDED: "succeeded", FAILED: "failed", ABANDONED: "was interrupted" } as const;

/** Request, which try (from the second on), result and code of ours; at most 240 characters. */
function attemptSentence({ replayRequestId, attemptNumber, result, errorCode }: ReplayAttempt): string {
  const which = attemptNumber > 1 ? `, attempt ${attemptNumber}` : "";
  const code = errorCode !== null && result !== "SUCCEEDED" ? `, ${errorCode}` : "";
  return `Replayed by request ${replayRequestId}${which}: ${OUTCOME[result]}${code}.`;
}

/** What happened to a failure, newest first, in sentences of ours. Instants are ISO texts of one form, so they sort as text. */
export function timelineOf(facts: TimelineFacts): TimelineEntry[] {
  const entries: TimelineEntry[] = [
    {
      ts: facts.firstFailedTs,
      kind: "CAPTURED",
      sentence: "Captured whole; the source moved on. Nothing of it was written.",
    },
  ];
  for (const delivery of facts.deliveries) {
    const from = SOURCE[delivery.sourceProcessor];
    if (delivery.firstObservedTs > facts.firstFailedTs) {
      entries.push({
        ts: delivery.firstObservedTs,
        kind: "DELIVERED_AGAIN",
        sentence: `Delivered again from ${from} at another position; it is the same failure.`,
      });
    }
    if (delivery.observationCount > 1) {
      entries.push({
        ts: delivery.lastObservedTs,
        kind: "DELIVERED_AGAIN",
        sentence: `Last seen again from ${from}; ${delivery.observationCount} times at this position.`,
      });
    }
  }
  if (facts.resolvedTs !== null && facts.status === "RESOLVED") {
    const how = facts.resolutionCode === "RESOLVED_BY_REPAIR" ? "by its repair" : "by replay of the archived bytes";
    entries.push({
      ts: facts.resolvedTs,
      kind: "RESOLVED",
      sentence: `Its transaction is projected, ${how}.`,
    });
  }
  if (facts.resolvedTs !== null && facts.status === "WAIVED") {
    entries.push({ ts: facts.resolvedTs, kind: "WAIVED", sentence: "Waived by two people; it was not projected." });
  }
  for (const attempt of facts.attempts) {
    const { ts, replayRequestId } = attempt;
    entries.push({ ts, kind: "REPLAYED", sentence: attemptSentence(attempt), replayRequestId });
  }
  return entries.sort((a, b) => (a.ts < b.ts ? 1 : a.ts > b.ts ? -1 : 0)).slice(0, 200);
}
