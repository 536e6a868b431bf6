"use client";
import { useState } from "react";
import { count } from "@/components/ui/format";
import { Stale } from "@/components/ui/states";
import { WillHold } from "../request/hold-table";
import { ItemTable } from "../request/item-table";
import { RequestNumbers } from "../request/request-numbers";
import { RequestOrder } from "../request/request-order";
import type { Replay } from "../request/request-view";
import { addedSentence } from "./plan-words";

/** What the plan would be: numbers, the score, the items with the reason each is in, the scopes it would hold. */
export function PlanPreview({ preview, again }: { preview: Replay; again: () => void }) {
  const [onlyAdded, setOnlyAdded] = useState(false);
  const added = preview.items.filter((i) => i.addedDependency);
  const items = onlyAdded && added.length > 0 ? added : preview.items;
  return (
    <div className="preview">
      {preview.stale ? (
        <Stale onRetry={again} label="Preview again">
          What this was computed from has moved: {preview.staleReasons[0]?.message ?? "failures or scopes changed."}
        </Stale>
      ) : null}
      <RequestNumbers request={preview} />
      <RequestOrder request={preview} />
      <ItemTable
        request={items === preview.items ? preview : { ...preview, items }}
        sub={addedSentence(preview)}
        action={
          added.length > 0 ? (
            <button
              className="plain link push"
              type="button"
              aria-pressed={onlyAdded}
              onClick={() => setOnlyAdded((only) => !only)}
            >
              {onlyAdded ? `All ${count(preview.items.length)}` : `Only added, ${count(added.length)}`}
            </button>
          ) : null
        }
      />
      <WillHold request={preview} />
    </div>
  );
}
