import { asProblem } from "@/components/api/problem";
import { Icon } from "@/components/ui/icon";
import { denialOf } from "./decision-view";
import type { Replay } from "./request-view";

/** A command that was refused or lost: our sentence, what follows from it, the code. Nothing when there was none. */
export function DenialNote({ error, request }: { error: unknown; request: Replay }) {
  if (!error) return null;
  const denial = denialOf(asProblem(error), request);
  return (
    <div className="note failed denial" role="alert">
      <Icon name="warning" />
      <span>
        {denial.sentence} {denial.advice} <span className="code">{denial.code}</span>
        {denial.requestId ? (
          <>
            {" "}
            <span className="code">request {denial.requestId}</span>
          </>
        ) : null}
      </span>
    </div>
  );
}
