import Link from "next/link";
import { count, many } from "@/components/ui/format";
import type { GetFailureResponse } from "@/server/contracts/failures";
import { causeCode, causeHref, failureHref } from "../words";

/** The sentence the page turns on, the code, where it stopped, and for a gap what opened it. */
export function FailureWhy({ failure }: { failure: GetFailureResponse }) {
  const details = failure.errorDetails;
  const at = failure.failedOrdinal;
  return (
    <section>
      <p className="lead">{failure.errorMessage ?? failure.cause.sentence}</p>
      <p className="m why-line">
        <span className="code">{causeCode(failure.cause) || "no code"}</span>
        {failure.cause.constraint ? (
          <>
            {" "}
            on <span className="code">{failure.cause.constraint}</span>
          </>
        ) : null}
        {at !== null ? <> at member {at}</> : null}
        {details && details.expected !== null && details.got !== null ? (
          <>
            {" · "}expected {count(details.expected)}, got {count(details.got)}
          </>
        ) : null}
        {failure.firstCause ? (
          <>
            {" · "}the first cause is{" "}
            <Link className="link" href={failureHref(failure.firstCause.failureId)}>
              {failure.firstCause.cause.sentence}
            </Link>
            , {many(failure.firstCause.causeCount, "failure")}
          </>
        ) : (
          <>
            {" · "}
            <Link className="link" href={causeHref(failure.cause.key)}>
              failures of the same cause
            </Link>
          </>
        )}
      </p>
    </section>
  );
}
