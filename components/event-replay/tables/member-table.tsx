"use client";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { count } from "@/components/ui/format";
import { Digest, ScopeText } from "@/components/ui/id-text";
import { Status } from "@/components/ui/status";
import type { GetFailureResponse } from "@/server/contracts/failures";

const FIRST = 25;

/** The transaction's members, complete and in order. Digests and sizes, never a payload: no answer holds one. */
export function MemberTable({ failure }: { failure: GetFailureResponse }) {
  const [all, setAll] = useState(false);
  const members = all ? failure.events : failure.events.slice(0, FIRST);
  const hidden = failure.events.length - members.length;
  const complete = failure.events.length === failure.eventCount;
  return (
    <section>
      <div className="sec-h">
        <h2>Members</h2>
        <span className="m">
          {count(failure.eventCount)}, {complete ? "complete, in order" : "incomplete"}; payloads are never shown
        </span>
      </div>
      <div className="tw scroll">
        <table className="rec">
          <caption className="vh">Members of the transaction</caption>
          <thead>
            <tr>
              <th scope="col" className="no-col">
                #
              </th>
              <th scope="col">Event type</th>
              <th scope="col">Aggregate</th>
              <th scope="col" className="r">
                Version
              </th>
              <th scope="col">Digest</th>
              <th scope="col" className="r">
                Bytes
              </th>
            </tr>
          </thead>
          <tbody>
            {members.map((m) => (
              <tr key={m.ordinal}>
                <td className="m hide-s">{m.ordinal}</td>
                <td className="lead-s">
                  {m.eventType}
                  {m.failed ? (
                    <span className="sm">
                      <Status status="failed">Stopped here</Status>
                    </span>
                  ) : null}
                </td>
                <td data-l="Aggregate">
                  {m.aggregateType && m.aggregateId ? (
                    <ScopeText type={m.aggregateType} keyText={m.aggregateId} />
                  ) : (
                    <span className="m">none</span>
                  )}
                </td>
                <td className="r" data-l="Version">
                  {m.aggregateVersion ?? "–"}
                  {m.graphRevision !== null ? <span className="sm m nw">revision {m.graphRevision}</span> : null}
                </td>
                <td data-l="Digest">
                  <Digest value={m.payloadDigest} />
                </td>
                <td className="r" data-l="Bytes">
                  {m.payloadAvailable ? count(m.decryptedPayloadBytes) : "gone"}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {hidden > 0 ? (
        <div className="tf">
          <Button small onClick={() => setAll(true)}>
            Show {count(hidden)} more members
          </Button>
        </div>
      ) : null}
    </section>
  );
}
