const PG_TIMESTAMPTZ =
  /^(\d{4,6})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))?([+-])(\d{2})(?::(\d{2}))?(?::(\d{2}))?$/;

/**
 * The database's own text of a timestamptz (DateStyle ISO, any TimeZone) → ISO-8601 UTC with six fraction digits and `Z`.
 * Exact to the microsecond, which a JavaScript Date is not. Throws on any other text (also BC and infinity): a defect, since
 * only columns of ours reach it.
 */
export function toIso(pgText: string): string {
  const m = PG_TIMESTAMPTZ.exec(pgText);
  if (!m) throw new TypeError("not a timestamptz text");
  const offsetSeconds = (m[8] === "-" ? -1 : 1) * (Number(m[9]) * 3600 + Number(m[10] ?? 0) * 60 + Number(m[11] ?? 0));
  const micros = (m[7] ?? "").padEnd(6, "0");
  if (offsetSeconds === 0) return `${m[1]}-${m[2]}-${m[3]}T${m[4]}:${m[5]}:${m[6]}.${micros}Z`;
  const utc = Date.UTC(Number(m[1]), Number(m[2]) - 1, Number(m[3]), Number(m[4]), Number(m[5]), Number(m[6]));
  return `${new Date(utc - offsetSeconds * 1000).toISOString().slice(0, -5)}.${micros}Z`;
}

/** As `toIso`, null stays null. */
export function toIsoOrNull(pgText: string | null): string | null {
  return pgText === null ? null : toIso(pgText);
}
