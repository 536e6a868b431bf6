"use client";
import { Button } from "@/components/ui/button";
import { count } from "@/components/ui/format";
import { Rail } from "@/components/ui/rail";
import { Status, type StatusKey } from "@/components/ui/status";
import { ScopeLabel } from "../scope-label";
import type { Replay } from "./request-view";
import { useShown } from "./use-shown";

type Lane = Replay["lanes"][number];

const VERDICT: Record<Lane["verdict"], { status: StatusKey; word: string }> = {
  UNCHANGED: { status: "closed", word: "Unchanged" },
  PARTLY_DONE: { status: "held", word: "Partly done" },
  AS_PLANNED: { status: "done", word: "As planned" },
  MOVED_ON: { status: "done", word: "As planned, moved on" },
  MOVED_OTHERWISE: { status: "held", word: "Moved otherwise" },
};

/** Versions that the plan wrote, and those it has not. */
function writtenIn(lane: Lane, r: Replay): { done: number[]; open: number[] } {
  const done: number[] = [];
  const open: number[] = [];
  for (const ordinal of lane.items) {
    const item = r.items[ordinal];
    const write = item?.scopes.find((s) => s.scopeType === lane.scopeType && s.scopeKey === lane.scopeKey);
    if (item && write) (item.status === "SUCCEEDED" ? done : open).push(write.lastVersion);
  }
  return { done, open };
}

/** The proof: where each scope stood, where the plan leads, where it stands now, read back from the projection. */
export function ProofTable({ request: r }: { request: Replay }) {
  const { shown, hidden, all } = useShown(r.lanes);
  if (r.lanes.length === 0) return null;
  return (
    <section>
      <div className="sec-h">
        <h2>Proof</h2>
        <span className="m">read back from the projection, compared with the plan</span>
      </div>
      <div className="tw scroll">
        <table className="rec">
          <caption className="vh">Versions of each scope before, planned and now</caption>
          <thead>
            <tr>
              <th scope="col">Scope</th>
              <th scope="col" className="r">
                Planned
              </th>
              <th scope="col" className="r">
                Now
              </th>
              <th scope="col">Versions written</th>
              <th scope="col" className="r">
                Parked
              </th>
              <th scope="col">Verdict</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((lane) => {
              const { status, word } = VERDICT[lane.verdict];
              const { done, open } = writtenIn(lane, r);
              return (
                <tr key={`${lane.scopeType} ${lane.scopeKey}`}>
                  <td>
                    <ScopeLabel scope={lane} copy />
                  </td>
                  <td className="r nw" data-l="Planned">
                    {lane.beforeVersion ?? "–"} → {lane.afterVersion}
                  </td>
                  <td className="r" data-l="Now">
                    {lane.nowVersion ?? "–"}
                  </td>
                  <td data-l="Versions written">
                    <Rail at={lane.beforeVersion} done={done} open={open} />
                  </td>
                  <td className="r" data-l="Parked">
                    {count(lane.parked)}
                  </td>
                  <td data-l="Verdict">
                    <Status status={status}>{word}</Status>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {hidden > 0 ? (
        <div className="tf">
          <Button small onClick={all}>
            Show {count(hidden)} more scopes
          </Button>
        </div>
      ) : null}
    </section>
  );
}
