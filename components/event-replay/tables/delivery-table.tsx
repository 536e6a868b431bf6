import { count, many } from "@/components/ui/format";
import { Status } from "@/components/ui/status";
import { ExactTime } from "@/components/ui/time";
import type { GetFailureResponse } from "@/server/contracts/failures";
import { ScopeLabel } from "../scope-label";
import { STATUS_WORDS } from "../words";

type Delivery = GetFailureResponse["deliveries"][number];

const range = (d: Delivery): string => {
  if (d.firstOffset === null) return "";
  const last = d.lastOffset !== null && d.lastOffset !== d.firstOffset ? ` to ${count(d.lastOffset)}` : "";
  return `offset ${count(d.firstOffset)}${last}`;
};

const position = (d: Delivery): string =>
  [d.topic, d.partition === null ? "" : `part ${d.partition}`, range(d)].filter(Boolean).join(", ");

/** Where the transaction was seen: one row a source position, how often, when last. */
export function DeliveryTable({ failure }: { failure: GetFailureResponse }) {
  const seen = failure.deliveries.reduce((sum, d) => sum + d.observationCount, 0);
  return (
    <div>
      <div className="sec-h">
        <h2>Deliveries</h2>
        <span className="m">{many(seen, "time")} seen, 1 archived</span>
      </div>
      <div className="tw">
        <table className="tight rec">
          <caption className="vh">Deliveries</caption>
          <thead>
            <tr>
              <th scope="col">Source</th>
              <th scope="col">Position</th>
              <th scope="col" className="r">
                Seen
              </th>
              <th scope="col">Last</th>
            </tr>
          </thead>
          <tbody>
            {failure.deliveries.map((d) => (
              <tr key={`${d.sourceProcessor} ${d.topic} ${d.partition} ${d.firstOffset}`}>
                <td>{d.sourceProcessor === "KAFKA" ? "Kafka" : "Outbox"}</td>
                <td data-l="Position">{position(d)}</td>
                <td className="r" data-l="Seen">
                  {count(d.observationCount)}
                </td>
                <td className="nw" data-l="Last">
                  <ExactTime at={d.lastObservedTs} plain />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** The scopes of the transaction and whether each refuses new commands now. */
export function FailureScopeTable({ failure }: { failure: GetFailureResponse }) {
  const blocked = failure.blockedScopes;
  const sub =
    failure.dependencyScopes.length === 0
      ? "none"
      : blocked === 0
        ? "none refuses commands"
        : blocked === failure.dependencyScopes.length
          ? blocked === 1
            ? "it refuses new commands"
            : blocked === 2
              ? "both refuse new commands"
              : `all ${count(blocked)} refuse new commands`
          : `${count(blocked)} refuse new commands`;
  return (
    <div>
      <div className="sec-h">
        <h2>Scopes</h2>
        <span className="m">{sub}</span>
      </div>
      {failure.dependencyScopes.length > 0 ? (
        <div className="tw">
          <table className="tight rec">
            <caption className="vh">Scopes</caption>
            <thead>
              <tr>
                <th scope="col">Scope</th>
                <th scope="col">Rule</th>
                <th scope="col">State</th>
              </tr>
            </thead>
            <tbody>
              {failure.dependencyScopes.map((s) => (
                <tr key={`${s.scopeType} ${s.scopeKey}`}>
                  <td>
                    <ScopeLabel scope={s} copy />
                  </td>
                  <td className="nw" data-l="Rule">
                    {s.scopeType === "GRAPH_ROOT" ? "Graph root" : "Aggregate"}
                  </td>
                  <td data-l="State">
                    {s.quarantined ? (
                      <Status status="held">Quarantined</Status>
                    ) : (
                      <Status status={STATUS_WORDS[s.status].status}>
                        {s.status === "OPEN" ? "Blocked" : STATUS_WORDS[s.status].word}
                      </Status>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : null}
    </div>
  );
}
