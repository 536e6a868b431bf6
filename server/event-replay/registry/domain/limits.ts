/** Code-owned maxima of the append boundary (ER-APP-48, reference §7). Bytes are those of the canonical encoding or of the source. */
export type AppendLimits = {
  readonly payloadBytes: number;
  readonly transactionBytes: number;
  readonly transactionMembers: number;
  readonly reportedErrors: number;
};

export const APPEND_LIMITS: AppendLimits = {
  /** A larger event can't be captured whole beside the failed projection without stalling its partition. */
  payloadBytes: 4 * 1024 * 1024,
  /** A transaction is captured, planned and replayed in one piece of memory; a larger one could never be recovered. */
  transactionBytes: 16 * 1024 * 1024,
  /** A plan holds at most 5,000 events; a transaction above that could be captured but never replayed. */
  transactionMembers: 5_000,
  /** An answer that lists every member of a broken import would itself exceed what a client can show. */
  reportedErrors: 50,
};
