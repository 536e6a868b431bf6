"use client";
import { useNow, useZone } from "@/components/ui/clock";
import { exactTime, fullTime } from "@/components/ui/format";
import { deadlineOf } from "./row-words";

/** What is left until a deadline, amber in its last hour, with the exact time below or on hover. */
export function Deadline({ at, line }: { at: string; line?: "inline" | "exact" }) {
  const now = useNow();
  const { zone } = useZone();
  const { words, look } = deadlineOf(at, now);
  const ms = Date.parse(at);
  const inline = line === "inline";
  const text = inline ? (look === "past" ? "expired" : `expires in ${words}`) : words;
  return (
    <time dateTime={at} title={fullTime(ms, zone)} className={look === "calm" ? (inline ? "m nw" : "nw") : "late nw"}>
      {text}
      {line === "exact" ? <span className="sm m">{exactTime(ms, now, zone)}</span> : null}
    </time>
  );
}
