"use client";
import Link from "next/link";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { count } from "@/components/ui/format";
import { Id } from "@/components/ui/id-text";
import { Status } from "@/components/ui/status";
import { requestHref } from "../request/replay-words";
import type { Selection } from "../selection";
import { failureHref } from "../words";

const SHOWN = 200;

/** Every selected id, those that are no longer open first, and the way to drop them. Nothing leaves by itself. */
export function SelectionDialog(props: {
  selection: Selection;
  goneIds: ReadonlySet<string>;
  onClose: () => void;
  onRemove: (ids: readonly string[]) => void;
  onUnmark: () => void;
}) {
  const ids = [...props.selection.ids];
  const gone = ids.filter((id) => props.goneIds.has(id));
  const ordered = [...gone, ...ids.filter((id) => !props.goneIds.has(id))];
  const { planned } = props.selection;
  const hidden = ordered.length - SHOWN;
  return (
    <Dialog
      title={`Selection of ${count(ids.length)}`}
      onClose={props.onClose}
      footer={
        <>
          {gone.length > 0 ? (
            <Button onClick={() => props.onRemove(gone)}>Drop {count(gone.length)} no longer open</Button>
          ) : null}
          {planned.size > 0 ? <Button onClick={props.onUnmark}>Unmark {count(planned.size)} planned</Button> : null}
          <Button look="primary" onClick={props.onClose}>
            Done
          </Button>
        </>
      }
    >
      <p className="m">
        The set is frozen: new failures do not join it, and one that is resolved stays until you drop it.
        {planned.size > 0
          ? " What a plan holds is not planned again; unmark it to plan it once more. A plan that ended gives back what is still open."
          : ""}
      </p>
      <table className="tight">
        <caption className="vh">Selected failures</caption>
        <thead>
          <tr>
            <th scope="col">Failure</th>
            <th scope="col">State</th>
            <th scope="col" className="r">
              <span className="vh">Drop</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {ordered.slice(0, SHOWN).map((id) => (
            <tr key={id}>
              <td>
                <Link href={failureHref(id)}>
                  <Id value={id} copy={false} />
                </Link>
              </td>
              <td>
                {props.goneIds.has(id) ? (
                  <Status status="held">No longer open</Status>
                ) : planned.has(id) ? (
                  <Link className="link" href={requestHref(planned.get(id) as string)}>
                    Planned
                  </Link>
                ) : (
                  <span className="m">Open</span>
                )}
              </td>
              <td className="r">
                <button
                  className="plain link m"
                  type="button"
                  aria-label={`Drop ${id}`}
                  onClick={() => props.onRemove([id])}
                >
                  drop
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {hidden > 0 ? <p className="m sm">and {count(hidden)} more</p> : null}
    </Dialog>
  );
}
