import type { Problem, ProblemCode } from "@/components/api/problem";
import { count, many } from "@/components/ui/format";
import { PLAN_LIMITS } from "@/server/contracts/plan-limits";
import type { SelectionStrategy } from "@/server/contracts/replay";

/** A refused preview in words: what stands in the way, which failures, which versions, and every way on. */

export type Missing = {
  scopeType: "AGGREGATE" | "GRAPH_ROOT";
  scopeKey: string;
  /** Missing versions, ascending, closed up: 3, 5 to 7. */
  ranges: { first: number; last: number }[];
  /** Missing versions of which a captured transaction is known. */
  known: number;
};

export type Way =
  /** Plan with everything that must run first. */
  | { kind: "CLOSURE" }
  /** Plan without these failures; they stay selected. */
  | { kind: "LEAVE_OUT"; ids: string[] }
  /** Find the selected failures of these scopes, and plan without them. */
  | { kind: "LEAVE_OUT_SCOPES"; scopes: { scopeType: Missing["scopeType"]; scopeKey: string }[] }
  /** A smaller step of the same selection. */
  | { kind: "FEWER"; first: number }
  | { kind: "AGAIN" };

export type Refusal = {
  code: ProblemCode;
  title: string;
  sentence: string;
  advice: string;
  /** Failures that the refusal names, at most 500. */
  failureIds: string[];
  missing: Missing[];
  ways: Way[];
  requestId: string | undefined;
};

type Asked = { ids: readonly string[]; strategy: SelectionStrategy };

const asRanges = (versions: readonly number[]): Missing["ranges"] => {
  const ranges: Missing["ranges"] = [];
  for (const version of [...new Set(versions)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last && version === last.last + 1) last.last = version;
    else ranges.push({ first: version, last: version });
  }
  return ranges;
};

/** The missing versions by scope, in the order the server names them. A revision belongs to a graph root. */
export function missingByScope(problem: Pick<Problem, "details">): Missing[] {
  const scopes = new Map<string, { missing: Missing; versions: number[] }>();
  for (const m of problem.details.missing ?? []) {
    const scopeType = m.revision === undefined ? "AGGREGATE" : "GRAPH_ROOT";
    const key = `${scopeType} ${m.scope}`;
    const of = scopes.get(key) ?? { missing: { scopeType, scopeKey: m.scope, ranges: [], known: 0 }, versions: [] };
    const version = m.revision ?? m.version;
    if (version !== undefined) of.versions.push(version);
    if (m.transactionId !== undefined) of.missing.known += 1;
    scopes.set(key, of);
  }
  return [...scopes.values()].map(({ missing, versions }) => ({ ...missing, ranges: asRanges(versions) }));
}

/** "version 3", "versions 3, 5 to 7": exactly which. */
export function rangesText({ scopeType, ranges }: Pick<Missing, "scopeType" | "ranges">): string {
  const noun = scopeType === "GRAPH_ROOT" ? "revision" : "version";
  const one = ranges.length === 1 && ranges[0]?.first === ranges[0]?.last;
  const parts = ranges.map((r) =>
    r.first === r.last ? String(r.first) : r.last === r.first + 1 ? `${r.first}, ${r.last}` : `${r.first} to ${r.last}`,
  );
  return `${noun}${one ? "" : "s"} ${parts.join(", ")}`;
}

const LIMITS: Record<string, string> = {
  TOO_MANY_TRANSACTIONS: `A plan holds at most ${count(PLAN_LIMITS.transactions)} transactions, what was added included.`,
  CLOSURE_TOO_LARGE: `With everything that must run first it would be more than ${count(PLAN_LIMITS.transactions)} transactions.`,
  TOO_MANY_EVENTS: `Together they hold more than ${count(PLAN_LIMITS.events)} events.`,
  TOO_MANY_BYTES: "Together their archived bytes are more than 256 MiB.",
  PLANNING_TIME: "Planning them took longer than 30 s.",
};

const these = (n: number): string => (n === 1 ? "This failure" : `These ${count(n)} failures`);

/** Which words a code has here; the server's own text is never shown. */
export function refusalOf(problem: Problem, asked: Asked): Refusal {
  const failureIds = [...(problem.details.failureIds ?? [])];
  const asking = new Set(asked.ids);
  const own = failureIds.filter((id) => asking.has(id));
  const leaveOut: Way[] = own.length > 0 && own.length < asked.ids.length ? [{ kind: "LEAVE_OUT", ids: own }] : [];
  const fewer: Way[] = asked.ids.length > 1 ? [{ kind: "FEWER", first: Math.floor(asked.ids.length / 2) }] : [];
  const n = failureIds.length;
  const base = {
    code: problem.code,
    sentence: problem.message,
    failureIds,
    missing: [] as Missing[],
    requestId: problem.requestId,
  };
  const added = n - own.length;
  const elsewhere =
    added > 0 && asked.strategy === "DEPENDENCY_CLOSURE"
      ? " What must run first would bring it in, so leaving it out is no way: what waits for it can't run either."
      : "";
  switch (problem.code) {
    case "REPLAY_GAP":
      return { ...base, ...gap(problem, asked), ways: gapWays(problem, asked) };
    case "EVENT_NOT_REPLAYABLE":
      return {
        ...base,
        title: "The policy forbids replay of some of them",
        advice: `${these(n)} can never be replayed: by the rule of an event type, or kept as evidence only.${elsewhere}`,
        ways: leaveOut,
      };
    case "UNSUPPORTED_EVENT_TYPE":
    case "UNSUPPORTED_PAYLOAD_VERSION":
      return {
        ...base,
        title: "An event type is not registered",
        advice: `${these(n)} can't be read by this version. Once the type and schema version are registered, the producer sends them again.${elsewhere}`,
        ways: leaveOut,
      };
    case "TRANSACTION_INCOMPLETE":
      return {
        ...base,
        title: "A transaction is incomplete",
        advice: `${these(n)} can't run without all members, in order. The producer sends the transaction again.${elsewhere}`,
        ways: leaveOut,
      };
    case "PAYLOAD_UNAVAILABLE":
    case "PAYLOAD_DIGEST_MISMATCH":
      return {
        ...base,
        title: problem.code === "PAYLOAD_UNAVAILABLE" ? "Archived bytes are gone" : "Archived bytes were changed",
        advice: `${these(n)} can't be replayed from the archive; report it, the archive should never lose or change them.${elsewhere}`,
        ways: leaveOut,
      };
    case "EVENT_REPAIR_REQUIRED":
      return {
        ...base,
        title: "A repair is under way",
        advice: `${these(n)} can't be replayed unchanged while a repair of it is undecided or approved.${elsewhere}`,
        ways: leaveOut,
      };
    case "INVALID_REPLAY_STATE":
      if ((problem.details.scopes?.length ?? 0) > 0) {
        return {
          ...base,
          title: "A scope is held by another failure",
          sentence:
            "An earlier plan ended early and left the scope to this failure; only a plan that holds it may run there.",
          advice: "Take it in.",
          ways: asked.strategy === "EXACT" ? [{ kind: "CLOSURE" }] : [{ kind: "AGAIN" }],
        };
      }
      return {
        ...base,
        title: "Some are no longer open",
        sentence: "Somebody recovered or waived them, or their scope has moved past them.",
        advice: `${these(n)} can't be planned any more.`,
        ways: [...leaveOut, { kind: "AGAIN" }],
      };
    case "FAILURE_NOT_FOUND":
      return {
        ...base,
        title: "Some are not on this host",
        sentence: "",
        advice: `${these(n)} can't be found on this host.`,
        ways: leaveOut,
      };
    case "REPLAY_LIMIT_EXCEEDED":
      return {
        ...base,
        title: "Too much for one plan",
        sentence: LIMITS[problem.details.errors?.[0]?.rule ?? ""] ?? problem.message,
        advice: "Plan fewer at first; the rest stays selected and is planned from the same selection.",
        ways: fewer,
      };
    case "INVALID_REQUEST":
      return problem.details.errors?.some((e) => e.rule === "OTHER_PROJECTION")
        ? {
            ...base,
            title: "They belong to several projections",
            sentence: "A plan holds failures of one projection and consumer group.",
            advice: `${these(n)} belong to another one.`,
            ways: leaveOut,
          }
        : { ...base, title: "The preview was refused", advice: "", ways: [{ kind: "AGAIN" }] };
    case "AUTHORIZATION_DENIED":
      return {
        ...base,
        title: "You may not plan a replay",
        sentence: "Your role may read failures, not plan a replay.",
        advice: "Hand the link of this failure or selection to an operator.",
        ways: [],
      };
    default:
      return {
        ...base,
        title: "The preview could not be computed",
        advice: "Nothing was changed, and your selection is kept.",
        ways: [{ kind: "AGAIN" }],
      };
  }
}

function gap(problem: Problem, { strategy, ids }: Asked) {
  const missing = missingByScope(problem);
  const n = missing.reduce((sum, m) => sum + m.ranges.reduce((s, r) => s + r.last - r.first + 1, 0), 0);
  const what =
    n > 0
      ? `${n === 1 ? "A version is" : `${count(n)} versions are`} missing in ${many(missing.length, "scope")}, and a projection never skips one.`
      : "They can't be brought into an order in which each runs after what it needs.";
  if (strategy === "EXACT") {
    const them = ids.length === 1 ? "the selected one" : "the selected ones";
    return {
      missing,
      title: `What must run before ${them} is not in the plan`,
      sentence: what,
      advice: "Take in what must run first; each added transaction is shown with the reason.",
    };
  }
  const captured = missing.some((m) => m.known > 0);
  return {
    missing,
    title: "Something is missing that no plan can bring",
    sentence: what,
    advice: captured
      ? "A captured transaction holds a missing version but can never run: it was waived, or is kept as evidence only. What waits for it can't be replayed."
      : "No captured failure holds them. The producer or an import has to bring them first; until then, leave out what waits for them.",
  };
}

function gapWays(problem: Problem, { strategy, ids }: Asked): Way[] {
  if (strategy === "EXACT") return [{ kind: "CLOSURE" }];
  const scopes = missingByScope(problem).map(({ scopeType, scopeKey }) => ({ scopeType, scopeKey }));
  return ids.length > 1 && scopes.length > 0 ? [{ kind: "LEAVE_OUT_SCOPES", scopes }] : [];
}
