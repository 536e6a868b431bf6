import type { SelectionStrategy } from "@/server/contracts/replay";

/** What one press of "Create plan" asks for. */
export type PlanContents = {
  failureIds: readonly string[];
  strategy: SelectionStrategy;
  reason: string;
};

/** Contents and the key they were sent under. */
export type Attempt = { contents: string; idempotencyKey: string };

const written = ({ failureIds, strategy, reason }: PlanContents): string =>
  JSON.stringify([[...failureIds].sort(), strategy, reason]);

/**
 * The key to send: the one of the last press while the contents are the same, so that a double click or a second press after
 * a lost answer gets the same plan; a new one as soon as something else is asked for.
 */
export function attemptFor(last: Attempt | undefined, contents: PlanContents, newKey: () => string): Attempt {
  const text = written(contents);
  return last?.contents === text ? last : { contents: text, idempotencyKey: newKey() };
}
