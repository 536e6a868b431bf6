"use client";
import Link from "next/link";
import { useState } from "react";
import { type FailureFilter, listCandidateIds } from "@/components/api/failures";
import { useViewer } from "@/components/api/session";
import { Button } from "@/components/ui/button";
import { count, many } from "@/components/ui/format";
import { Icon } from "@/components/ui/icon";
import { Id } from "@/components/ui/id-text";
import { ScopeLabel } from "../scope-label";
import { failureHref, scopeHref } from "../words";
import { type Missing, type Refusal, rangesText, type Way } from "./refusal";
import type { PlanSource } from "./use-plan-source";

const SHOWN = 12;
const SCOPES_ASKED = 25;

const versionsOf = (m: Missing): number => m.ranges.reduce((sum, r) => sum + r.last - r.first + 1, 0);

const captured = (m: Missing): string => {
  const n = versionsOf(m);
  if (m.known === 0) return "no";
  return m.known >= n ? "yes" : `${count(m.known)} of ${count(n)}`;
};

/** Exactly which versions are missing, by scope. The scope leads to its failures. */
function MissingTable({ missing }: { missing: readonly Missing[] }) {
  return (
    <div className="tw scroll">
      <table className="rec tight">
        <caption className="vh">Missing versions</caption>
        <thead>
          <tr>
            <th scope="col">Scope</th>
            <th scope="col">Missing</th>
            <th scope="col">Captured</th>
          </tr>
        </thead>
        <tbody>
          {missing.map((m) => (
            <tr key={`${m.scopeType} ${m.scopeKey}`}>
              <td>
                <Link href={scopeHref(m)}>
                  <ScopeLabel scope={m} />
                </Link>
              </td>
              <td data-l="Missing">{rangesText(m)}</td>
              <td data-l="Captured">{captured(m)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The failures that a refusal names, each a link. */
function Concerned({ refusal }: { refusal: Refusal }) {
  const ids = refusal.failureIds;
  if (ids.length === 0) return null;
  const what = refusal.missing.length > 0 ? "Held by" : "Concerned";
  return (
    <p className="concerned">
      <span className="m">{what}</span>
      {ids.slice(0, SHOWN).map((id) => (
        <Link key={id} href={failureHref(id)}>
          <Id value={id} copy={false} />
        </Link>
      ))}
      {ids.length > SHOWN ? <span className="m">and {count(ids.length - SHOWN)} more</span> : null}
    </p>
  );
}

/** The ways on from a refused preview: each says what it does, none of them changes anything but the preview. */
function Ways({ refusal, source, again }: { refusal: Refusal; source: PlanSource; again: () => void }) {
  const { hostId } = useViewer();
  const [said, setSaid] = useState<string>();
  const [busy, setBusy] = useState(false);

  const leaveOutScopes = async (scopes: { scopeType: "AGGREGATE" | "GRAPH_ROOT"; scopeKey: string }[]) => {
    setBusy(true);
    setSaid(undefined);
    try {
      const batch = new Set(source.batch);
      const found = new Set<string>();
      for (const scope of scopes.slice(0, SCOPES_ASKED)) {
        const filter: FailureFilter = { hostId, status: "OPEN", includeDiagnostic: false, ...scope };
        for (const id of (await listCandidateIds(filter)).failureIds) if (batch.has(id)) found.add(id);
      }
      if (found.size === 0) setSaid("None of the selected writes these scopes; a predecessor that comes along does.");
      else source.leaveOut([...found]);
    } catch {
      setSaid("The failures of these scopes could not be read. Nothing was changed.");
    }
    setBusy(false);
  };

  const button = (way: Way) => {
    switch (way.kind) {
      case "CLOSURE":
        return (
          <Button key="c" look="primary" onClick={() => source.setStrategy("DEPENDENCY_CLOSURE")}>
            Add what must run first
          </Button>
        );
      case "LEAVE_OUT":
        return (
          <Button key="l" onClick={() => source.leaveOut(way.ids)}>
            Plan without {way.ids.length === 1 ? "it" : `these ${count(way.ids.length)}`}
          </Button>
        );
      case "LEAVE_OUT_SCOPES":
        return (
          <Button key="s" aria-disabled={busy || undefined} onClick={() => !busy && void leaveOutScopes(way.scopes)}>
            Plan without {way.scopes.length === 1 ? "this scope" : `these ${count(way.scopes.length)} scopes`}
          </Button>
        );
      case "FEWER":
        return (
          <Button key="f" onClick={() => source.setFirst(way.first)}>
            Plan the first {count(way.first)}
          </Button>
        );
      case "AGAIN":
        return (
          <Button key="a" onClick={again}>
            {refusal.code === "INVALID_REPLAY_STATE" ? "Look again" : "Try again"}
          </Button>
        );
    }
  };
  if (refusal.ways.length === 0) return null;
  return (
    <div className="row wrap">
      {refusal.ways.map(button)}
      <span className="m sm" role="status">
        {said ?? ""}
      </span>
    </div>
  );
}

/** A preview that was refused: why, what exactly, which failures, and how to go on. Nothing was changed by it. */
export function PlanRefusal(props: { refusal: Refusal; source: PlanSource; again: () => void }) {
  const { refusal } = props;
  return (
    <section className="refusal" role="alert" data-state="refused">
      <div className="note failed">
        <Icon name="warning" />
        <div>
          <h2>{refusal.title}</h2>
          <p>
            {refusal.sentence} {refusal.advice} <span className="code">{refusal.code}</span>
          </p>
          {refusal.code === "INTERNAL" && refusal.requestId ? (
            <p className="m sm">
              Request <span className="mono">{refusal.requestId}</span>
            </p>
          ) : null}
        </div>
      </div>
      {refusal.missing.length > 0 ? <MissingTable missing={refusal.missing} /> : null}
      <Concerned refusal={refusal} />
      <Ways {...props} />
      <p className="m sm">
        Nothing was changed. {many(props.source.source.ids.size, "failure stays", "failures stay")}{" "}
        {props.source.failureId ? "as it was" : "selected"}.
      </p>
    </section>
  );
}
