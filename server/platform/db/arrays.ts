/**
 * PostgreSQL array literals for `unnest($1::type[])`. One prepared statement then serves any batch size, and the driver's
 * generic (slower) array writer is left out of the hot path. Values stay parameters: this text never becomes SQL.
 */
export function arrayLiteral(values: readonly (string | number | boolean | null)[]): string {
  let out = "{";
  for (let i = 0; i < values.length; i++) {
    if (i > 0) out += ",";
    const value = values[i];
    if (value === null || value === undefined) out += "NULL";
    else if (typeof value === "string") out += quote(value);
    else out += String(value);
  }
  return `${out}}`;
}

const SPECIAL = /["\\]/;
const SPECIAL_ALL = /["\\]/g;

function quote(text: string): string {
  return SPECIAL.test(text) ? `"${text.replace(SPECIAL_ALL, "\\$&")}"` : `"${text}"`;
}
