import { scopeId } from "@/server/event-replay/registry/domain/scopes";
import type { PlanFailure } from "./plan";

export type Ordered =
  | {
      readonly ok: true;
      readonly failures: readonly PlanFailure[];
      /** Indexes, in the same order, of the failures that come immediately before each one in one of its scopes. */
      readonly needs: readonly (readonly number[])[];
    }
  /** These wait for each other in different scopes: no order exists. */
  | { readonly ok: false; readonly stuck: readonly PlanFailure[] };

/**
 * The one order of a plan: by versions within every scope; what no scope orders by first source position, then content
 * fingerprint, then id. The same failures in any order of input give the same result (ER-PLN-09).
 */
export function orderFailures(input: readonly PlanFailure[]): Ordered {
  const failures = [...input].sort(bySource);
  const after = failures.map(() => [] as number[]);
  const waitsFor = failures.map(() => new Set<number>());
  for (const [before, next] of neighbours(failures)) {
    if (waitsFor[next]?.has(before)) continue;
    waitsFor[next]?.add(before);
    after[before]?.push(next);
  }
  const open = waitsFor.map((set) => set.size);
  const ready = new Ready();
  open.forEach((n, index) => {
    if (n === 0) ready.put(index);
  });
  const order: number[] = [];
  for (let index = ready.take(); index !== undefined; index = ready.take()) {
    order.push(index);
    for (const next of after[index] as number[]) {
      open[next] = (open[next] as number) - 1;
      if (open[next] === 0) ready.put(next);
    }
  }
  if (order.length < failures.length) {
    return { ok: false, stuck: failures.filter((_, index) => (open[index] as number) > 0) };
  }
  const place = new Map(order.map((index, at) => [index, at]));
  return {
    ok: true,
    failures: order.map((index) => failures[index] as PlanFailure),
    needs: order.map((index) =>
      [...(waitsFor[index] as Set<number>)].map((before) => place.get(before) as number).sort((a, b) => a - b),
    ),
  };
}

/** Pairs of neighbours in a scope: indexes of the earlier and the next writer. */
function* neighbours(failures: readonly PlanFailure[]): Generator<[number, number]> {
  const lanes = new Map<string, { index: number; version: number }[]>();
  failures.forEach((failure, index) => {
    for (const run of failure.runs) {
      const id = scopeId(run);
      const writer = { index, version: run.versions[0] as number };
      const lane = lanes.get(id);
      if (lane) lane.push(writer);
      else lanes.set(id, [writer]);
    }
  });
  for (const lane of lanes.values()) {
    // Stable: equal versions stay in source order; whether they may run at all is the continuity check's word.
    lane.sort((a, b) => a.version - b.version);
    for (let i = 1; i < lane.length; i++) {
      yield [(lane[i - 1] as { index: number }).index, (lane[i] as { index: number }).index];
    }
  }
}

function bySource(a: PlanFailure, b: PlanFailure): number {
  if (a.firstPosition !== b.firstPosition) return a.firstPosition - b.firstPosition;
  if (a.contentFingerprint !== b.contentFingerprint) return a.contentFingerprint < b.contentFingerprint ? -1 : 1;
  return a.failureId < b.failureId ? -1 : a.failureId > b.failureId ? 1 : 0;
}

/** Smallest index first: a binary heap. */
class Ready {
  private readonly heap: number[] = [];

  put(value: number): void {
    const { heap } = this;
    heap.push(value);
    for (let i = heap.length - 1; i > 0; ) {
      const parent = (i - 1) >> 1;
      if ((heap[parent] as number) <= (heap[i] as number)) break;
      this.swap(i, parent);
      i = parent;
    }
  }

  take(): number | undefined {
    const { heap } = this;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || heap.length === 0) return top;
    heap[0] = last as number;
    for (let i = 0; ; ) {
      const left = 2 * i + 1;
      const right = left + 1;
      let least = i;
      if (left < heap.length && (heap[left] as number) < (heap[least] as number)) least = left;
      if (right < heap.length && (heap[right] as number) < (heap[least] as number)) least = right;
      if (least === i) return top;
      this.swap(i, least);
      i = least;
    }
  }

  private swap(a: number, b: number): void {
    const held = this.heap[a] as number;
    this.heap[a] = this.heap[b] as number;
    this.heap[b] = held;
  }
}
