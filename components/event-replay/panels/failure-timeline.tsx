import Link from "next/link";
import { shortId } from "@/components/ui/format";
import { StatusGlyph, type StatusKey } from "@/components/ui/status";
import { TimeAgo } from "@/components/ui/time";
import type { GetFailureResponse } from "@/server/contracts/failures";
import { requestHref } from "../request/replay-words";

type Entry = GetFailureResponse["timeline"][number];

const KINDS: Record<Entry["kind"], StatusKey> = {
  CAPTURED: "failed",
  DELIVERED_AGAIN: "held",
  REPLAYED: "closed",
  RESOLVED: "done",
  WAIVED: "closed",
};

/** The sentence; the request it names is a link. */
function Sentence({ entry: { sentence, replayRequestId: id } }: { entry: Entry }) {
  const at = id === undefined ? -1 : sentence.indexOf(id);
  if (id === undefined || at < 0) return <span>{sentence}</span>;
  return (
    <span>
      {sentence.slice(0, at)}
      <Link className="link" href={requestHref(id)} title={id}>
        {shortId(id)}
      </Link>
      {sentence.slice(at + id.length)}
    </span>
  );
}

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
          <li key={`${t.ts} ${t.kind} ${t.sentence}`}>
            <StatusGlyph status={KINDS[t.kind]} />
            <Sentence entry={t} />
            <TimeAgo at={t.ts} />
          </li>
        ))}
      </ol>
    </section>
  );
}
