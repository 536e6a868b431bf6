/** Code-owned numbers of an execution (design §3 Lease and crash). Tests pass shorter ones; no deployment setting exists. */
export type ExecutionSettings = {
  /** How long a claim or renewal lasts by the database's clock. Longer than `idleTimeoutMs`, so that the server has freed a frozen owner before another may take over. */
  readonly leaseSeconds: number;
  /** The server ends a session of ours that stays silent this long inside a transaction. */
  readonly idleTimeoutMs: number;
  /** Whole attempt, counted from the claim. */
  readonly budgetMs: number;
  /** Tries of one item under one request; the next is REPLAY_LIMIT_EXCEEDED. */
  readonly attemptsPerItem: number;
  /** How long an installer waits for the work in progress of a partition; then PAUSE_TIMEOUT. */
  readonly installWaitMs: number;
};

export const EXECUTION: ExecutionSettings = {
  leaseSeconds: 60,
  idleTimeoutMs: 45_000,
  budgetMs: 1_800_000,
  attemptsPerItem: 3,
  installWaitMs: 60_000,
};
