"use client";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { checkSelection } from "@/components/api/failures";
import { Button, ButtonLink } from "@/components/ui/button";
import { useNow, useZone } from "@/components/ui/clock";
import { count, exactTime } from "@/components/ui/format";
import { Status } from "@/components/ui/status";
import { SelectionDialog } from "../dialogs/selection-dialog";
import { nothingLeft, planLabel, plannable, planSelectionHref } from "../plan/plan-batch";
import type { Selection } from "../selection";

const SETTLE_MS = 250;
const COPIED_MS = 1500;

/** The ids once they have not changed for a moment, so that ticking through rows asks the server once. */
function useSettled(selection: Selection): Selection {
  const [settled, setSettled] = useState(selection);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(selection), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [selection]);
  return settled;
}

/** How the selection stands now, read again every 15 s; undefined until first known. */
export function useSelectionCheck(hostId: string, selection: Selection) {
  const settled = useSettled(selection);
  const { data } = useQuery({
    ...checkSelection(hostId, [...settled.ids]),
    placeholderData: (previous) => (selection.ids.size > 0 ? previous : undefined),
  });
  return selection.ids.size > 0 ? data : undefined;
}

type Props = {
  selection: Selection;
  check: ReturnType<typeof useSelectionCheck>;
  onClear: () => void;
  onRemove: (ids: readonly string[]) => void;
  onUnmark: () => void;
};

/** The button says what will really happen; where nothing can, it stays and says why. */
function PlanButton({ selection, check, left }: Pick<Props, "selection" | "check"> & { left: number }) {
  const planned = selection.planned.size;
  const label = planLabel(left, planned);
  const may = check?.permissions.plan;
  if (label && may?.allowed !== false) {
    return (
      <ButtonLink look="primary" small icon="replay" href={planSelectionHref(selection)}>
        {label}
      </ButtonLink>
    );
  }
  const why = label
    ? (may?.reason ?? "You may not plan a replay on this host.")
    : nothingLeft(selection.ids.size, planned, check?.notOpen ?? 0);
  return (
    <Button small icon="replay" disabledReason={why}>
      {label ?? "Plan replay of 0"}
    </Button>
  );
}

/**
 * The frozen selection: how many, since when, what changed since, what a plan holds already. What can be done with it: plan
 * what is open and in no plan yet, look through it, copy the ids that are still open, clear it.
 */
export function SelectionBar({ selection, check, onClear, onRemove, onUnmark }: Props) {
  const now = useNow();
  const { zone } = useZone();
  const [review, setReview] = useState(false);
  const [copied, setCopied] = useState(false);
  const size = selection.ids.size;
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  if (size === 0) return null;
  const gone = check?.notOpen ?? 0;
  const goneIds = new Set(check?.notOpenIds ?? []);
  const left = plannable(selection, goneIds);
  const openIds = [...selection.ids].filter((id) => !goneIds.has(id));
  const copy = () => {
    void navigator.clipboard?.writeText(openIds.join("\n")).then(() => setCopied(true));
  };
  return (
    <>
      <div className="selbar">
        <span className="row wrap" role="status">
          <span className="b nw">{count(size)} selected, frozen</span>
          <span className="m nw">at {exactTime(selection.frozenAtMs, now, zone)}</span>
          {gone > 0 ? (
            <>
              <span className="sep hide-s" />
              <Status status="held">{count(gone)} no longer open</Status>
            </>
          ) : null}
          {selection.planned.size > 0 ? (
            <>
              <span className="sep hide-s" />
              <Status status="waiting">{count(selection.planned.size)} planned</Status>
            </>
          ) : null}
        </span>
        <button className="plain link m" type="button" onClick={() => setReview(true)}>
          Review selection
        </button>
        <span className="row push">
          <Button look="ghost" small onClick={onClear}>
            Clear
          </Button>
          <Button small icon={copied ? "check" : "copy"} onClick={copy}>
            {copied ? "Copied" : `Copy ${count(openIds.length)} ${openIds.length === 1 ? "id" : "ids"}`}
          </Button>
          <PlanButton selection={selection} check={check} left={left.length} />
        </span>
      </div>
      {review ? (
        <SelectionDialog
          selection={selection}
          goneIds={goneIds}
          onClose={() => setReview(false)}
          onUnmark={onUnmark}
          onRemove={(ids) => {
            onRemove(ids);
            if (ids.length >= size) setReview(false);
          }}
        />
      ) : null}
    </>
  );
}
