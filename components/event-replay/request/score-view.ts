import type { ScoreBox, ScoreLane } from "@/components/ui/score";
import { scopeParts } from "../words";
import { appendedLater, type Replay } from "./request-view";

type Item = Replay["items"][number];

/** Lanes drawn at first; the table below has all of them. */
export const LANES_DRAWN = 24;

export type RequestScore = {
  lanes: ScoreLane[];
  columns: number;
  /** Column of the item that runs. */
  highlight?: number;
  /** True once it has started: boxes then say what became of them. */
  ran: boolean;
  ties: boolean;
  waiting: "later" | "parked";
  /** Items that no scope orders: they have no box. */
  unordered: number;
};

const STARTED_LOOK: Record<Item["status"], ScoreBox["look"]> = {
  PENDING: "todo",
  RUNNING: "run",
  SUCCEEDED: "ok",
  FAILED: "open",
};

function lookOf(item: Item, ran: boolean): ScoreBox["look"] {
  if (ran) return STARTED_LOOK[item.status];
  return item.addedDependency ? "add" : "sel";
}

/** The plan as a score: lane = scope, column = transaction in the order it runs, box = the version it writes. */
export function requestScore(r: Replay, most = Number.POSITIVE_INFINITY): RequestScore {
  const ran = r.startedTs !== null;
  const byOrdinal = new Map(r.items.map((i) => [i.ordinal, i]));
  const lanes = r.lanes.slice(0, most).map((lane): ScoreLane => {
    const parts = scopeParts(lane);
    const boxes = lane.items.flatMap((ordinal): ScoreBox[] => {
      const item = byOrdinal.get(ordinal);
      const write = item?.scopes.find((s) => s.scopeType === lane.scopeType && s.scopeKey === lane.scopeKey);
      if (!item || !write) return [];
      return [{ column: ordinal + 1, version: write.lastVersion, look: lookOf(item, ran) }];
    });
    return {
      type: parts.type,
      keyText: parts.keyText,
      rule: lane.scopeType === "GRAPH_ROOT" ? "Graph root" : "Aggregate",
      at: ran ? lane.beforeVersion : lane.nowVersion,
      boxes,
      parked: ran ? lane.parked : appendedLater(lane),
    };
  });
  const running = r.items.find((i) => i.status === "RUNNING");
  return {
    lanes,
    columns: r.items.length,
    ...(running ? { highlight: running.ordinal + 1 } : {}),
    ran,
    ties: r.items.some((i) => i.scopes.length > 1),
    waiting: ran ? "parked" : "later",
    unordered: r.items.filter((i) => i.scopes.length === 0).length,
  };
}
