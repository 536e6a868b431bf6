import { Digest, Id } from "@/components/ui/id-text";
import { Status } from "@/components/ui/status";
import { replayStatusWords } from "./replay-words";
import { isInterrupted, type Replay, titleOf } from "./request-view";

export function RequestHead({ request: r }: { request: Replay }) {
  const { status, word } = replayStatusWords({ ...r, retryable: isInterrupted(r) });
  return (
    <div className="ph">
      <div>
        <h1>{titleOf(r)}</h1>
        <div className="sub">
          <Status status={status} pill>
            {word}
          </Status>
          <span className="row tie">
            Request <Id value={r.replayRequestId} />
          </span>
          {r.planHash ? (
            <span className="row tie">
              Plan hash <Digest value={r.planHash} />
            </span>
          ) : null}
          <span>
            {r.projectionName}, {r.consumerGroup}
          </span>
        </div>
      </div>
    </div>
  );
}
