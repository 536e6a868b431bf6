/** How much is measured. Ratios hold at either size; the quick one only scatters more. */
export type Size = {
  readonly rounds: number;
  /** Events of one lane in one round of batches. */
  readonly laneEvents: number;
  /** Events of one lane in one round of strict mode: more than the timed window can take. */
  readonly strictEvents: number;
  /** Length of a timed round of the slow contestants. */
  readonly timedMs: number;
  /** Batches of each of two contestants that take turns. */
  readonly armedBatches: number;
  readonly captures: number;
  readonly kills: number;
  readonly lagRate: number;
  readonly lagWindowMs: number;
  readonly failures: number;
  /** Open failures that a closure goes through; its long form has ten times as many. */
  readonly closure: number;
  /** Items of one plan in one round. */
  readonly items: number;
  /** Items replayed one plan after another while memory is watched. */
  readonly replayed: number;
};

export const FULL: Size = {
  rounds: 5,
  laneEvents: 10_000,
  strictEvents: 4_000,
  timedMs: 1_500,
  armedBatches: 40,
  captures: 400,
  kills: 20,
  lagRate: 500,
  lagWindowMs: 3_000,
  failures: 1_000_000,
  closure: 10_000,
  items: 200,
  replayed: 10_000,
};

export const QUICK: Size = {
  rounds: 5,
  laneEvents: 1_000,
  strictEvents: 600,
  timedMs: 200,
  armedBatches: 6,
  captures: 40,
  kills: 3,
  lagRate: 200,
  lagWindowMs: 1_000,
  failures: 100_000,
  closure: 2_000,
  items: 40,
  replayed: 200,
};
