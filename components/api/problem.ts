import { ERRORS, type ErrorCode, type ErrorDetails } from "@/server/contracts/errors";

/**
 * What a call can end with besides an answer. `code` is one of the catalog, or what only the browser can know:
 * OFFLINE (no answer) and UNREADABLE (an answer that is not ours).
 */
export type ProblemCode = ErrorCode | "OFFLINE" | "UNREADABLE";

const BROWSER_SENTENCES = {
  OFFLINE: "The server did not answer.",
  UNREADABLE: "The server's answer could not be read.",
} as const;

/** Code to sentence, in this one place. Text that came with an answer is never shown. */
export function sentenceOf(code: ProblemCode): string {
  return code in BROWSER_SENTENCES
    ? BROWSER_SENTENCES[code as keyof typeof BROWSER_SENTENCES]
    : ERRORS[code as ErrorCode].sentence;
}

/** A refused or failed call. The message is our own sentence; details have a fixed shape and hold no values. */
export class Problem extends Error {
  constructor(
    readonly code: ProblemCode,
    readonly retryable: boolean,
    readonly details: ErrorDetails = {},
    readonly requestId?: string,
  ) {
    super(sentenceOf(code));
    this.name = "Problem";
  }
}

const isCode = (code: unknown): code is ErrorCode => typeof code === "string" && Object.hasOwn(ERRORS, code);

/** Reads an RFC 9457 problem document; anything else becomes UNREADABLE, so foreign text never reaches the page. */
export function parseProblem(body: unknown, requestId: string | undefined): Problem {
  const p = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  if (!isCode(p.code)) return new Problem("UNREADABLE", true, {}, requestId);
  const details = typeof p.details === "object" && p.details !== null ? (p.details as ErrorDetails) : {};
  return new Problem(p.code, p.retryable === true, details, requestId);
}

/** Any thrown thing as a Problem, for components that show what went wrong. */
export function asProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem("OFFLINE", true);
}
