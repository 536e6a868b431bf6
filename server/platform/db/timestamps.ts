const PG_TIMESTAMPTZ =
  /^(\d{4,6})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?([+-])(\d{2})(?::(\d{2}))?(?::(\d{2}))?( BC)?$/;

/** The ends of what ISO-8601 writes with a year of four digits. */
const FIRST = "0001-01-01T00:00:00.000000Z";
const LAST = "9999-12-31T23:59:59.999999Z";

/**
 * The database's own text of a timestamptz (DateStyle ISO, any TimeZone) → ISO-8601 UTC with six fraction digits and `Z`.
 * Exact to the microsecond, which a JavaScript Date is not. Every timestamptz has an answer: one before year 1 or after
 * 9999, `infinity` too, answers the nearest moment within. Throws on a text that is no timestamptz: a defect, since only
 * columns of ours reach it.
 */
export function toIso(pgText: string): string {
  const iso = utcOf(pgText);
  return iso === "BEFORE" ? FIRST : iso === "AFTER" ? LAST : iso;
}

/** As `toIso`; null for null and for a moment outside the years 1 to 9999. */
export function toIsoOrNull(pgText: string | null): string | null {
  if (pgText === null) return null;
  const iso = utcOf(pgText);
  return iso === "BEFORE" || iso === "AFTER" ? null : iso;
}

function utcOf(pgText: string): string {
  if (pgText === "infinity") return "AFTER";
  if (pgText === "-infinity") return "BEFORE";
  const m = PG_TIMESTAMPTZ.exec(pgText);
  if (!m) throw new TypeError("not a timestamptz text");
  const offsetSeconds = (m[8] === "-" ? -1 : 1) * (Number(m[9]) * 3600 + Number(m[10] ?? 0) * 60 + Number(m[11] ?? 0));
  const local = new Date(0);
  // Date.UTC takes years below 100 for those of the 20th century; 1 BC is year 0.
  local.setUTCFullYear(m[12] ? 1 - Number(m[1]) : Number(m[1]), Number(m[2]) - 1, Number(m[3]));
  local.setUTCHours(Number(m[4]), Number(m[5]), Number(m[6]));
  // A Date ends at year 275760, a timestamptz at 294276.
  if (Number.isNaN(local.getTime())) return "AFTER";
  const utc = new Date(local.getTime() - offsetSeconds * 1000);
  const year = utc.getUTCFullYear();
  if (Number.isNaN(year) || year > 9999) return "AFTER";
  return year < 1 ? "BEFORE" : `${utc.toISOString().slice(0, -5)}.${(m[7] ?? "").padEnd(6, "0")}Z`;
}
