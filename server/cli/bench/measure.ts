/** One printed line: a ratio (or a count, or milliseconds) against its target. */
export type Figure = {
  readonly goal: number;
  readonly what: string;
  /** The absolute numbers behind it, for reading only: they belong to this machine and this minute. */
  readonly figure: string;
  readonly value: number;
  readonly unit: "x" | "ms" | "count";
  readonly target: number;
  /** `least`: value must not be below the target; `most`: not above. */
  readonly direction: "least" | "most";
  readonly met: boolean;
  /** Value of each round, in the order measured. */
  readonly rounds: readonly number[];
};

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** Nearest-rank percentile, p in 0..1. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)] ?? Number.NaN;
}

export type Contestant = { readonly name: string; readonly run: () => Promise<number> };

/**
 * Runs every contestant once a round and starts each round with another one, so that whatever else the machine does meets all
 * of them alike. Returns the rates of each, by name, one a round.
 */
export async function interleave(
  rounds: number,
  contestants: readonly Contestant[],
  beforeRound: () => Promise<void> = async () => undefined,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const rates = new Map(contestants.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    await beforeRound();
    for (let i = 0; i < contestants.length; i++) {
      const contestant = contestants[(round + i) % contestants.length] as Contestant;
      rates.get(contestant.name)?.push(await contestant.run());
    }
  }
  return rates;
}

/** Ratio of two contestants: median over rounds of the ratio inside each round. */
export function compare(
  goal: number,
  what: string,
  rates: ReadonlyMap<string, readonly number[]>,
  [ours, theirs]: readonly [string, string],
  target: number,
  unit = "events/s",
): Figure {
  const a = rates.get(ours) ?? [];
  const b = rates.get(theirs) ?? [];
  const rounds = a.map((rate, i) => rate / (b[i] ?? Number.NaN));
  const value = median(rounds);
  const figure = `${whole(median(a))} to ${whole(median(b))} ${unit}`;
  return { goal, what, figure, value, unit: "x", target, direction: "least", met: value >= target, rounds };
}

/** A value that must not exceed its target. */
export function atMost(
  goal: number,
  what: string,
  figure: string,
  rounds: readonly number[],
  unit: Figure["unit"],
  target: number,
): Figure {
  const value = median(rounds);
  return { goal, what, figure, value, unit, target, direction: "most", met: value <= target, rounds };
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** Seconds that `work` takes. */
export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e9;
}
