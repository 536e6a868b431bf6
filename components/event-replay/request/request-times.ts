import { duration, fullTime, zoneLabel } from "@/components/ui/format";

/** A short length of time as measured: "0.41 s", "3.9 s", "38 s", "2 min". Milliseconds. */
export function took(ms: number): string {
  const s = Math.max(0, ms) / 1000;
  if (s < 1) return `${s.toFixed(2)} s`;
  if (s < 10) return `${s.toFixed(1)} s`;
  return duration(ms);
}

/** Between two instants of an answer; undefined while the second is missing. */
export function between(from: string | null | undefined, to: string | null | undefined): string | undefined {
  return from && to ? took(Date.parse(to) - Date.parse(from)) : undefined;
}

/** What is left, to the second: "23 h 50 min 12 s", "41 s". Never negative. */
export function countdown(ms: number): string {
  const all = Math.max(0, Math.floor(ms / 1000));
  const [h, min, s] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  const pad = (n: number) => String(n).padStart(2, "0");
  if (h > 0) return `${h} h ${pad(min)} min ${pad(s)} s`;
  return min > 0 ? `${min} min ${pad(s)} s` : `${s} s`;
}

/** A deadline in the viewer's zone and in UTC: "1 Dec 2026 09:22:41 Toronto, 14:22:41 UTC". */
export function deadline(ms: number, zone: string): string {
  if (zone === "UTC") return fullTime(ms, "UTC");
  const city = zoneLabel(zone, ms).split(",")[0];
  const utc = fullTime(ms, "UTC").split(" ")[3];
  return `${fullTime(ms, zone).replace(zone, "")}${city}, ${utc} UTC`;
}

/** Under an hour is amber: it runs out. */
export const RUNS_OUT_MS = 3_600_000;
