"use client";
import { useNow, useZone } from "./clock";
import { duration, exactTime, fullTime, zoneLabel } from "./format";
import { Icon } from "./icon";

type Instant = { at: string };

const title = (ms: number, now: number, zone: string) => `${fullTime(ms, zone)}, ${duration(now - ms)} ago`;

/** Lists: the exact time, the age in muted ("08:51:07 41 min"). `at` is ISO-8601 with zone. */
export function ExactTime({ at, plain }: Instant & { plain?: boolean }) {
  const now = useNow();
  const { zone } = useZone();
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={title(ms, now, zone)} className="nw">
      {exactTime(ms, now, zone)}
      {plain ? null : <span className="m age"> {duration(now - ms, 1)}</span>}
    </time>
  );
}

/** Facts: exact time and age in words ("08:55:18, 37 min ago"). */
export function TimeAgo({ at }: Instant) {
  const now = useNow();
  const { zone } = useZone();
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={fullTime(ms, zone)}>
      {exactTime(ms, now, zone)}, {duration(now - ms)} ago
    </time>
  );
}

/** Overview: the age alone, exact on hover. */
export function Age({ at, units = 2, suffix = "" }: Instant & { units?: number; suffix?: string }) {
  const now = useNow();
  const { zone } = useZone();
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={title(ms, now, zone)}>
      {duration(now - ms, units)}
      {suffix}
    </time>
  );
}

/** Zone switch of the top bar: the browser's zone and UTC, one press. */
export function ZoneSwitch() {
  const now = useNow();
  const { zone, local, choose } = useZone();
  const next = zone === "UTC" ? local : "UTC";
  return (
    <button
      className="btn g t zone"
      type="button"
      aria-label={`Times are shown in ${zoneLabel(zone, now)}. Show them in ${zoneLabel(next, now)}`}
      title="Change time zone"
      onClick={() => choose(next)}
    >
      <Icon name="clock" small />
      {zoneLabel(zone, now)}
    </button>
  );
}
