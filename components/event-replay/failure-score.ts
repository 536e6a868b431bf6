import type { ScoreBox, ScoreLane } from "@/components/ui/score";
import type { GetFailureResponse } from "@/server/contracts/failures";
import { scopeParts } from "./words";

type Lane = GetFailureResponse["lanes"][number];

/** Columns drawn before this transaction; a plan shows the whole closure. */
const MAX_COLUMNS = 24;

export type FailureScore = { lanes: ScoreLane[]; columns: number; predecessors: number; drawn: number };

/**
 * Order in which open predecessors run: a failure comes after every failure that writes an earlier version of one of
 * its scopes; ties go by the lane, then the version. Kahn's algorithm over the lanes shown; what would form a circle
 * keeps its lane order, so that the drawing never fails.
 */
export function executionOrder(lanes: readonly Lane[]): string[] {
  const before = new Map<string, Set<string>>();
  const order: string[] = [];
  for (const lane of lanes) {
    lane.predecessors.forEach((p, i) => {
      const need = before.get(p.failureId) ?? new Set<string>();
      before.set(p.failureId, need);
      const previous = lane.predecessors[i - 1];
      if (previous && previous.failureId !== p.failureId) need.add(previous.failureId);
    });
  }
  const left = new Map(before);
  while (left.size > 0) {
    const ready = [...left].find(([, need]) => [...need].every((id) => !left.has(id)));
    const id = ready?.[0] ?? (left.keys().next().value as string);
    left.delete(id);
    order.push(id);
  }
  return order;
}

/** The score of one failure: its open predecessors in order, then this transaction, then what was appended later. */
export function failureScore(failure: Pick<GetFailureResponse, "lanes">): FailureScore {
  const order = executionOrder(failure.lanes);
  const drawn = order.slice(-MAX_COLUMNS);
  const column = new Map(drawn.map((id, i) => [id, i + 1]));
  const own = drawn.length + 1;
  const lanes = failure.lanes.map((lane): ScoreLane => {
    const parts = scopeParts(lane);
    const boxes: ScoreBox[] = lane.predecessors.flatMap((p) => {
      const at = column.get(p.failureId);
      return at === undefined ? [] : [{ column: at, version: p.version, look: "open" as const }];
    });
    const last = lane.ownVersions.at(-1);
    if (last !== undefined) boxes.push({ column: own, version: last, look: "this" });
    return {
      type: parts.type,
      keyText: parts.keyText,
      rule: lane.scopeType === "GRAPH_ROOT" ? "Graph root" : "Aggregate",
      at: lane.projectedVersion,
      boxes,
      parked: lane.laterAppended ?? 0,
    };
  });
  return { lanes, columns: own, predecessors: order.length, drawn: drawn.length };
}
