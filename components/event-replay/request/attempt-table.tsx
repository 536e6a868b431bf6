"use client";
import Link from "next/link";
import { Button } from "@/components/ui/button";
import { count, shortId } from "@/components/ui/format";
import { Id } from "@/components/ui/id-text";
import { Status, type StatusKey } from "@/components/ui/status";
import { ExactTime } from "@/components/ui/time";
import { failureHref } from "../words";
import { StoredError } from "./request-lead";
import { between } from "./request-times";
import type { Replay } from "./request-view";
import { useShown } from "./use-shown";

type Attempt = Replay["attempts"][number];

const RESULT: Record<Attempt["result"], { status: StatusKey; word: string }> = {
  RUNNING: { status: "running", word: "Running" },
  SUCCEEDED: { status: "done", word: "Succeeded" },
  FAILED: { status: "failed", word: "Failed" },
  ABANDONED: { status: "held", word: "Abandoned" },
};

const SHARE = /^(.*):([0-9a-f-]{36})$/;

/** "event-admin-query:01a22f1d…be89": which process ran it. */
export function workerName(workerId: string): string {
  const parts = SHARE.exec(workerId);
  return parts ? `${parts[1]} ${shortId(parts[2] as string)}` : workerId;
}

/** Every try of every item: when, how long, by which process, what it committed, and the code it ended with. */
export function AttemptTable({ request: r }: { request: Replay }) {
  const { shown, hidden, all } = useShown(r.attempts);
  if (r.attempts.length === 0) return null;
  const tried = new Set(r.attempts.map((a) => a.itemOrdinal)).size;
  const sub = tried === r.attempts.length ? "1 for each item" : `${count(r.attempts.length)} for ${count(tried)} items`;
  return (
    <section>
      <div className="sec-h">
        <h2>Attempts</h2>
        <span className="m">{sub}</span>
      </div>
      <div className="tw scroll">
        <table className="rec">
          <caption className="vh">Attempts</caption>
          <thead>
            <tr>
              <th scope="col" className="no-col">
                #
              </th>
              <th scope="col">Failure</th>
              <th scope="col">Result</th>
              <th scope="col">Started</th>
              <th scope="col" className="r">
                Took
              </th>
              <th scope="col">Executor</th>
              <th scope="col">Committed</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((a) => {
              const { status, word } = RESULT[a.result];
              const failureId = r.items[a.itemOrdinal]?.failureId;
              return (
                <tr key={`${a.itemOrdinal} ${a.attemptNumber}`}>
                  <td className="m hide-s">{a.itemOrdinal + 1}</td>
                  <td className="lead-s">
                    <span className="only-i m">{a.itemOrdinal + 1} </span>
                    {failureId ? (
                      <Link href={failureHref(failureId)}>
                        <Id value={failureId} copy={false} />
                      </Link>
                    ) : null}
                    {a.attemptNumber > 1 ? <span className="m sm">attempt {a.attemptNumber}</span> : null}
                  </td>
                  <td data-l="Result">
                    <span>
                      <Status status={status}>{word}</Status>
                      {a.errorCode ? (
                        <span className="sm wrap-s">
                          <StoredError code={a.errorCode} message={a.errorMessage} />
                        </span>
                      ) : null}
                    </span>
                  </td>
                  <td className="nw" data-l="Started">
                    <ExactTime at={a.startedTs} plain />
                  </td>
                  <td className="r nw" data-l="Took">
                    {between(a.startedTs, a.completedTs) ?? "–"}
                  </td>
                  <td data-l="Executor" title={a.workerId}>
                    <span className="code nw">{workerName(a.workerId)}</span>
                  </td>
                  <td data-l="Committed">
                    {a.projectionCommitted ? "Projection, resolution" : a.result === "RUNNING" ? "Not yet" : "Nothing"}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {hidden > 0 ? (
        <div className="tf">
          <Button small onClick={all}>
            Show {count(hidden)} more attempts
          </Button>
        </div>
      ) : null}
    </section>
  );
}
