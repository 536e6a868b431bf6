/** Pure text helpers of the console. Every function returns plain text; nothing here reads a clock or the locale. */

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

const shortPart = (part: string, tailOnly: boolean): string => {
  if (!UUID.test(part)) return part.length > 28 ? `${part.slice(0, 16)}…${part.slice(-6)}` : part;
  return tailOnly ? `…${part.slice(-4)}` : `${part.slice(0, 8)}…${part.slice(-4)}`;
};

const shorten = (id: string, tailsOnly: boolean): string => {
  let seen = tailsOnly;
  return id
    .split("|")
    .map((part) => {
      const text = shortPart(part, seen);
      seen ||= UUID.test(part);
      return text;
    })
    .join("|");
};

/** Composite keys longer than this lose the heads of their ids too, so that version and tail stay readable. */
const LONG_KEY = 24;

/**
 * Shortens an id or composite key for reading: first 8, …, last 4; in a composite key (`|`) ids after the first shrink
 * to …last 4, and every id where the key is still long. The full text stays in title and copy button.
 */
export function shortId(id: string): string {
  const text = shorten(id, false);
  return text.length > LONG_KEY && id.includes("|") ? shorten(id, true) : text;
}

/** Shortens a digest, keeping its algorithm: `sha256:24333788…753e`. Bare hex is read as SHA-256. */
export function shortDigest(digest: string): string {
  const hex = digest.replace(/^sha256:/, "");
  return hex.length > 16 ? `sha256:${hex.slice(0, 8)}…${hex.slice(-4)}` : digest;
}

/** The digest with its algorithm, whole, for title and copy. */
export function fullDigest(digest: string): string {
  return digest.includes(":") ? digest : `sha256:${digest}`;
}

/** A whole number with thousands separated by commas: 120,944. */
export function count(n: number): string {
  return String(Math.trunc(n)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** `count` with its noun in the right number: "1 failure", "37 failures". */
export function many(n: number, one: string, more = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : more}`;
}

/** Bytes in binary units with one decimal above 1 KiB: "934 bytes", "6.1 KiB". */
export function bytes(n: number): string {
  if (n < 1024) return many(n, "byte");
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = n / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value >= 100 ? Math.round(value) : value.toFixed(1).replace(/\.0$/, "")} ${units[unit]}`;
}

/**
 * A length of time in at most two units, from milliseconds: "38 s", "41 min", "3 h 12 min", "1 d 6 h". Negative reads
 * as "0 s": a clock that is a little behind never shows a time in the future.
 */
export function duration(ms: number, units = 2): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return `${s} s`;
  const min = Math.floor(s / 60);
  if (min < 60) return `${min} min`;
  const h = Math.floor(min / 60);
  const pad = (n: number) => String(n).padStart(2, "0");
  if (h < 24) return units < 2 || min % 60 === 0 ? `${h} h` : `${h} h ${pad(min % 60)} min`;
  const d = Math.floor(h / 24);
  return units < 2 || h % 24 === 0 ? `${d} d` : `${d} d ${h % 24} h`;
}

const partsIn = (ms: number, zone: string): Record<string, string> => {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  }).formatToParts(ms);
  return Object.fromEntries(parts.map((p) => [p.type, p.value]));
};

/** Exact time of an instant in a zone, 24 h: "08:51:07" today, "1 Dec 08:44" on another day of that zone. */
export function exactTime(ms: number, nowMs: number, zone: string): string {
  const at = partsIn(ms, zone);
  const now = partsIn(nowMs, zone);
  const sameDay = at.year === now.year && at.month === now.month && at.day === now.day;
  if (sameDay) return `${at.hour}:${at.minute}:${at.second}`;
  const year = at.year === now.year ? "" : ` ${at.year}`;
  return `${at.day} ${at.month}${year} ${at.hour}:${at.minute}`;
}

/** The whole instant with zone, for a title: "30 Nov 2026 08:51:07 America/Toronto". */
export function fullTime(ms: number, zone: string): string {
  const at = partsIn(ms, zone);
  return `${at.day} ${at.month} ${at.year} ${at.hour}:${at.minute}:${at.second} ${zone}`;
}

/** A zone as the top bar names it: "Toronto, UTC−5". */
export function zoneLabel(zone: string, nowMs: number): string {
  if (zone === "UTC") return "UTC";
  const city = zone.slice(zone.lastIndexOf("/") + 1).replaceAll("_", " ");
  const offset = new Intl.DateTimeFormat("en-GB", { timeZone: zone, timeZoneName: "shortOffset" })
    .formatToParts(nowMs)
    .find((p) => p.type === "timeZoneName")
    ?.value.replace("GMT", "UTC")
    .replace("-", "−");
  return `${city}, ${offset ?? zone}`;
}

/** True when the runtime knows the zone: a cookie is anybody's text and must not break a page. */
export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en-GB", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
