import Link from "next/link";
import { causeCode, causeHref, causeWhere } from "@/components/event-replay/words";
import { count, many } from "@/components/ui/format";
import { Sparkline } from "@/components/ui/sparkline";
import { Age } from "@/components/ui/time";
import type { CauseGroup } from "@/server/contracts/failures";

/** Open failures grouped by their cause: how many different problems there are, and what each needs. */
export function CauseTable({ causes }: { causes: readonly CauseGroup[] }) {
  return (
    <div className="tw">
      <table className="rec pair">
        <caption className="vh">Open failures by cause</caption>
        <thead>
          <tr>
            <th scope="col">Cause</th>
            <th scope="col" className="r">
              Failures
            </th>
            <th scope="col">Newest</th>
            <th scope="col">Arrivals</th>
            <th scope="col">Way out</th>
          </tr>
        </thead>
        <tbody>
          {causes.map((g) => (
            <tr key={g.cause.key}>
              <td>
                <Link className="md" href={causeHref(g.cause.key)}>
                  {g.cause.sentence}
                </Link>
                <span className="sm m">
                  {causeWhere(g)} <span className="code nw">{causeCode(g.cause)}</span>
                </span>
              </td>
              <td className="r" data-l="Failures">
                <span className="b">
                  {count(g.count)}
                  <span className="u"> {g.count === 1 ? "failure" : "failures"}</span>
                </span>
                <span className="sm m nw">
                  {g.scopesBlocked === 0
                    ? "none blocked"
                    : many(g.scopesBlocked, g.scopesCapped ? "scope or more" : "scope")}
                </span>
              </td>
              <td className="nw" data-l="Newest">
                <span className="u">newest </span>
                <Age at={g.newestTs} />
                <span className="sm m">
                  oldest <Age at={g.oldestTs} />
                </span>
              </td>
              <td className="hide-s">
                <Sparkline values={g.arrivals} label={`${g.cause.sentence} arrivals`} hot={2} />
              </td>
              <td className="nw" data-l="Way out">
                {g.cause.wayOut.words}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
