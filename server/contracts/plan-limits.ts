/**
 * Code-owned bounds of one plan (reference §7); closure growth counts. Above: REPLAY_LIMIT_EXCEEDED. Pages show them: they stand
 * apart from the schemas, whose library tries to evaluate code when it loads, which the pages' content security policy refuses.
 */
export const PLAN_LIMITS = { transactions: 500, events: 5_000, bytes: 256 * 1024 * 1024 } as const;
