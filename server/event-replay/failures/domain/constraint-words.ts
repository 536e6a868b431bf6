/** Projection tables by name, with the tables each one refers to. Identifiers of our own schema, never values. */
export type TableNames = ReadonlyMap<
  string,
  { readonly parents: readonly { readonly table: string; readonly columns: readonly string[] }[] }
>;

const ACRONYMS: Record<string, string> = { api: "API", id: "id", url: "URL", ip: "IP", llm: "LLM", mcp: "MCP" };

/** `api_version_t` → "API version". */
export function tableWords(table: string): string {
  const words = table.replace(/_t$/, "").split("_").filter(Boolean);
  const text = words.map((word) => ACRONYMS[word] ?? word).join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * What a constraint is about, in words: the table it belongs to (`child`) or, for a foreign key, the one it refers to
 * (`parent`). Constraint names begin with their table; a parent is named later in it, or found by the referring columns. Null
 * when the name says neither, so that no wrong table is ever named.
 */
export function thingOfConstraint(
  constraint: string,
  side: "child" | "parent",
  tables: TableNames = new Map(),
): string | null {
  const child = longest([...tables.keys()].filter((name) => startsWithWord(constraint, name)));
  if (side === "child") {
    if (child !== null) return tableWords(child);
    const named = /^([a-z][a-z0-9_]*?_t)(?:_|$)/.exec(constraint);
    return named?.[1] === undefined ? null : tableWords(named[1]);
  }
  if (child === null) return null;
  const rest = constraint.slice(child.length + 1);
  const parents = tables.get(child)?.parents ?? [];
  const named = longest(parents.map((parent) => parent.table).filter((name) => containsWord(rest, name)));
  if (named !== null) return tableWords(named);
  if (parents.length === 1) return tableWords((parents[0] as { table: string }).table);
  const stem = (table: string) => table.replace(/_t$/, "");
  const ways = [
    parents.filter((parent) => containsWord(rest, stem(parent.table))),
    parents.filter((parent) => containsWord(rest, stem(parent.table).split("_").at(-1) ?? "")),
    parents.filter((parent) => containsWord(rest, parent.columns.at(-1) ?? "")),
  ];
  const candidates = ways.find((found) => found.length > 0) ?? [];
  const only = new Set(candidates.map((parent) => parent.table));
  return only.size === 1 ? tableWords([...only][0] as string) : null;
}

function startsWithWord(text: string, word: string): boolean {
  return text === word || text.startsWith(`${word}_`);
}

function containsWord(text: string, word: string): boolean {
  return word !== "" && `_${text}_`.includes(`_${word}_`);
}

function longest(names: readonly string[]): string | null {
  return names.reduce<string | null>((best, name) => (best === null || name.length > best.length ? name : best), null);
}
