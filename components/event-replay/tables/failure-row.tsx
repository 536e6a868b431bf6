import Link from "next/link";
import { count, many, shortId } from "@/components/ui/format";
import { Id } from "@/components/ui/id-text";
import { ExactTime } from "@/components/ui/time";
import type { CandidateItem } from "@/server/contracts/failures";
import { ScopeLabel } from "../scope-label";
import { causeCode, failureHref, POLICY_WORDS } from "../words";

/** Why a row has no working checkbox, or undefined when it can be selected. */
export function notSelectable(item: CandidateItem): string | undefined {
  if (item.status !== "OPEN") return "no longer open";
  if (!item.executable) return "kept as evidence, never replayable";
  return undefined;
}

type RowProps = {
  item: CandidateItem;
  selected: boolean;
  current: boolean;
  /** Two lines: the cause stands under the event type. Groups by cause say it once in their head. */
  withCause: boolean;
  onToggle: (id: string, on: boolean, range: boolean) => void;
  onCurrent: (id: string) => void;
};

/** One failure: what, id, where, rule, when, how often. The first cell is the link. */
export function FailureRow({ item, selected, current, withCause, onToggle, onCurrent }: RowProps) {
  const off = notSelectable(item);
  const classes = [selected ? "sel" : "", current ? "cur" : ""].filter(Boolean).join(" ");
  return (
    <tr className={classes || undefined} data-row={item.failureId} onPointerDown={() => onCurrent(item.failureId)}>
      <td className="c">
        <input
          type="checkbox"
          aria-label={`Select ${shortId(item.failureId)}${off ? `: ${off}` : ""}`}
          title={off}
          disabled={off !== undefined}
          checked={selected}
          onChange={(event) =>
            onToggle(item.failureId, event.target.checked, (event.nativeEvent as MouseEvent).shiftKey === true)
          }
        />
      </td>
      <td className="lead-s over">
        <span className="t1">
          <Link href={failureHref(item.failureId)} title={item.eventTypes.first}>
            {item.eventTypes.first}
          </Link>
          {item.eventCount > 1 ? <span className="m"> and {count(item.eventCount - 1)} more</span> : null}
        </span>
        {withCause ? (
          <span className="sm m second">
            {item.cause.sentence} <span className="code">{causeCode(item.cause)}</span>
          </span>
        ) : null}
      </td>
      <td data-l="Failure">
        <Id value={item.failureId} />
      </td>
      <td data-l="Scope">
        {item.primaryScope ? (
          <span>
            <ScopeLabel scope={item.primaryScope} version={item.primaryScope.version} />
            {item.scopeCount > 1 ? (
              <span className="m" title={`and ${many(item.scopeCount - 1, "more scope")}`}>
                {" "}
                +{count(item.scopeCount - 1)}
                <span className="vh"> more scopes</span>
              </span>
            ) : null}
          </span>
        ) : (
          <span className="m">no ordered scope</span>
        )}
      </td>
      <td className="nw hide-l" data-l="Policy">
        {POLICY_WORDS[item.replayPolicy]}
      </td>
      <td className="r" data-l="Members">
        {count(item.eventCount)}
      </td>
      <td className="nw hide-m" data-l="First failed">
        <ExactTime at={item.firstFailedTs} />
      </td>
      <td className="nw" data-l="Last failed">
        <ExactTime at={item.lastFailedTs} />
      </td>
      <td className="r" data-l="Attempts">
        {count(item.failureCount)}
      </td>
    </tr>
  );
}
