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
};
