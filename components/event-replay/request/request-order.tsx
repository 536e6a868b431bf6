"use client";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { count, many } from "@/components/ui/format";
import { Score } from "@/components/ui/score";
import { isWorking, type Replay } from "./request-view";
import { LANES_DRAWN, type RequestScore, requestScore } from "./score-view";

function Key({ look, children }: { look: string; children: string }) {
  return (
    <span>
      <i className={`lg ${look}`.trim()} />
      {children}
    </span>
  );
}

function Legend({ score }: { score: RequestScore }) {
  const looks = new Set(score.lanes.flatMap((l) => l.boxes.map((b) => b.look)));
  const waits = score.lanes.some((l) => l.parked);
  return (
    <div className="legend">
      <Key look="">projected</Key>
      <Key look="atl">{score.ran ? "projection was here" : "projection is here"}</Key>
      {looks.has("sel") ? <Key look="sel">selected</Key> : null}
      {looks.has("add") ? <Key look="add">added, needed first</Key> : null}
      {looks.has("ok") ? <Key look="ok">committed</Key> : null}
      {looks.has("run") ? <Key look="run">running</Key> : null}
      {looks.has("open") ? <Key look="open">failed</Key> : null}
      {looks.has("todo") ? <Key look="todo">not run</Key> : null}
      {score.ties ? <Key look="tie">one transaction, several scopes</Key> : null}
      {waits ? <Key look="park">{score.ran ? "live work parked" : "appended later, waits"}</Key> : null}
    </div>
  );
}

/** The plan drawn: which scope moves where, in which order, and what has become of it. */
export function RequestOrder({ request: r }: { request: Replay }) {
  const [whole, setWhole] = useState(false);
  const score = requestScore(r, whole ? undefined : LANES_DRAWN);
  const hidden = r.lanes.length - score.lanes.length;
  const head = r.startedTs === null ? "Exactly what will run" : isWorking(r) ? "Where it is" : "What ran";
  const sub = r.startedTs === null ? "" : "each item commits alone: projection, bookkeeping and failure together";
  return (
    <section>
      <div className="sec-h">
        <h2>{r.validationMode === "VALIDATE_ONLY" ? "What would run" : head}</h2>
        <span className="m">{sub}</span>
      </div>
      {score.lanes.length > 0 ? (
        <>
          <Score
            lanes={score.lanes}
            columns={score.columns}
            {...(score.highlight ? { highlight: score.highlight } : {})}
            label="Execution order by scope"
            parkedHead={score.waiting}
            atHead={score.ran ? "was at" : "now at"}
          />
          <Legend score={score} />
        </>
      ) : (
        <p className="m">No scope orders these transactions: they run one after another and hold nothing.</p>
      )}
      {score.unordered > 0 && score.lanes.length > 0 ? (
        <p className="m sm">{many(score.unordered, "item has", "items have")} no ordered scope and no box.</p>
      ) : null}
      {hidden > 0 ? (
        <div className="tf">
          <Button small onClick={() => setWhole(true)}>
            Draw {count(hidden)} more scopes
          </Button>
        </div>
      ) : null}
    </section>
  );
}
