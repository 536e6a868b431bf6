/**
 * First characters by which a spreadsheet takes a cell for a formula or a command, full-width forms and the typographic minus
 * included, also behind what it strips or doesn't show: white space, control and format characters.
 */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20\u2212|%]|^[\t\r\n]/u;

/**
 * A file for a spreadsheet: RFC 4180, every cell quoted, lines end with CR LF, a byte order mark so that it is read as UTF-8.
 * A cell that a spreadsheet would run begins with an apostrophe instead (a number of ours is never negative).
 */
export function csvFile(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return `\ufeff${[head, ...rows].map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("")}`;
}

export function csvCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
