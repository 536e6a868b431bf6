import { StatusGlyph, type StatusKey } from "@/components/ui/status";
import { TimeAgo } from "@/components/ui/time";
import type { GetFailureResponse } from "@/server/contracts/failures";

const KINDS: Record<GetFailureResponse["timeline"][number]["kind"], StatusKey> = {
  CAPTURED: "failed",
  DELIVERED_AGAIN: "held",
  RESOLVED: "done",
  WAIVED: "closed",
};

/** What happened to this failure, newest first. */
export function FailureTimeline({ failure }: { failure: GetFailureResponse }) {
  return (
    <section>
      <div className="sec-h">
        <h2>Timeline</h2>
        <span className="m">newest first</span>
      </div>
      <ol className="tl">
        {failure.timeline.map((t) => (
          <li key={`${t.ts} ${t.kind}`}>
            <StatusGlyph status={KINDS[t.kind]} />
            <span>{t.sentence}</span>
            <TimeAgo at={t.ts} />
          </li>
        ))}
      </ol>
    </section>
  );
}
