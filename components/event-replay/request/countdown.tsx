"use client";
import { useNow, useZone } from "@/components/ui/clock";
import { countdown, deadline, RUNS_OUT_MS } from "./request-times";

/** What is left until an instant, by the server's clock. */
export function Countdown({ until }: { until: string }) {
  const now = useNow();
  return <>{countdown(Date.parse(until) - now)}</>;
}

/** The deadline of a decision: what is left, when exactly in the viewer's zone and in UTC. Amber in its last hour. */
export function Deadline({ until }: { until: string }) {
  const now = useNow();
  const { zone } = useZone();
  const at = Date.parse(until);
  return (
    <div className="deadline">
      <p className="m sm">Expires in</p>
      <p className={at - now < RUNS_OUT_MS ? "count late" : "count"} role="timer">
        {countdown(at - now)}
      </p>
      <p className="m sm">
        <time dateTime={until}>{deadline(at, zone)}</time>
      </p>
    </div>
  );
}
