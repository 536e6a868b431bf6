import { ButtonLink } from "@/components/ui/button";
import { many } from "@/components/ui/format";
import { Icon } from "@/components/ui/icon";
import { requestHref } from "../request/replay-words";
import type { Created } from "./use-create-plan";

/** The plan was created and is not what the preview showed: how it differs, before anybody goes on. */
export function PlanDifference({ created }: { created: Created }) {
  const n = created.differences.length;
  return (
    <section className="refusal" data-state="differs">
      <div className="note held" role="status">
        <Icon name="warning" />
        <span>
          The plan was created and differs from the preview in {many(n, "point")}: what it is made from moved in
          between. Nothing has run. Look at it; the requester can cancel it there.
        </span>
      </div>
      <div className="tw scroll">
        <table className="rec tight">
          <caption className="vh">Differences between preview and plan</caption>
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Preview</th>
              <th scope="col">Plan</th>
            </tr>
          </thead>
          <tbody>
            {created.differences.map((d) => (
              <tr key={`${d.what} ${d.preview} ${d.plan}`}>
                <td>{d.what}</td>
                <td data-l="Preview">{d.preview}</td>
                <td data-l="Plan">{d.plan}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="tf">
        <ButtonLink look="primary" href={requestHref(created.plan.replayRequestId)}>
          Open the plan
        </ButtonLink>
      </div>
    </section>
  );
}
