import { AppError } from "@/server/platform/errors";

/** Deeper nesting than any request of ours has; bounds the work of everything that walks the value afterwards. */
const MAX_DEPTH = 64;

/**
 * Parses a request body: strict UTF-8, JSON, no member named twice (two readers could take different ones), bounded depth.
 * Throws INVALID_REQUEST naming the rule, never a piece of the input.
 */
export function parseJson(body: Buffer): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    throw refused("NOT_UTF8");
  }
  return parseJsonText(text);
}

export function parseJsonText(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the input.
    throw refused("MALFORMED_JSON");
  }
  checkMembers(text);
  return value;
}

/** Walks the tokens of valid JSON once. */
function checkMembers(text: string): void {
  const names: (Set<string> | null)[] = [];
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === "{" || c === "[") {
      if (names.push(c === "{" ? new Set() : null) > MAX_DEPTH) throw refused("NESTED_TOO_DEEPLY");
    } else if (c === "}" || c === "]") {
      names.pop();
    } else if (c === '"') {
      const end = endOfString(text, i);
      const members = names.at(-1);
      if (members && isName(text, end)) {
        const name = JSON.parse(text.slice(i, end + 1)) as string;
        if (members.has(name)) throw refused("DUPLICATE_MEMBER");
        members.add(name);
      }
      i = end;
    }
  }
}

function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (text[i] !== '"') i += text[i] === "\\" ? 2 : 1;
  return i;
}

function isName(text: string, end: number): boolean {
  let i = end + 1;
  while (text[i] === " " || text[i] === "\n" || text[i] === "\r" || text[i] === "\t") i++;
  return text[i] === ":";
}

function refused(rule: string): AppError {
  return new AppError("INVALID_REQUEST", { errors: [{ field: "", rule }] });
}
