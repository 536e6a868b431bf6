import type { Mutant } from "@/server/cli/mutants/mutant";

const PLANNING = "server/event-replay/planning";

/** Plans and decisions on them. */
export const mutants: readonly Mutant[] = [
  {
    id: "ER-PLN-06",
    removes: "the closure follows what it adds, into the other scopes of a transaction",
    file: `${PLANNING}/domain/closure.ts`,
    find: "  for (const failureId of closure) {",
    replace: "  for (const failureId of [...closure]) {",
    test: `${PLANNING}/domain/closure.test.ts`,
    title: "ER-PLN-06 one transaction over two scopes",
  },
  {
    id: "ER-PLN-06",
    removes: "the planner adds the closure's failures to the plan",
    file: `${PLANNING}/create-event-replay-plan.ts`,
    find: "return [...selected, ...added];",
    replace: "return selected;",
    test: `${PLANNING}/create-event-replay-plan.int.test.ts`,
    title: "ER-PLN-06 the closure adds every failed predecessor",
  },
  {
    id: "ER-ISO-10",
    removes: "the closure brings the failure that owns a scope's quarantine",
    file: `${PLANNING}/domain/closure.ts`,
    find: "      if (owner !== undefined) closure.add(owner);\n",
    replace: "",
    test: `${PLANNING}/domain/closure.test.ts`,
    title: "ER-ISO-10 a scope in quarantine brings",
  },
  {
    id: "ER-PLN-14",
    removes: "a scope that moved makes a plan stale for its approver",
    file: `${PLANNING}/staleness.ts`,
    find: "WHERE p.projected_version IS DISTINCT FROM s.before",
    replace: "WHERE false",
    test: `${PLANNING}/decisions.int.test.ts`,
    title: "ER-PLN-14 a plan whose ground moved",
  },
  {
    id: "ER-APR-05",
    removes: "the requester is refused as approver by the command",
    file: `${PLANNING}/approve-event-replay.ts`,
    find: 'if (own.has(row.requestedBy)) throw new AppError("AUTHORIZATION_DENIED");',
    replace: "",
    test: `${PLANNING}/decisions.int.test.ts`,
    title: "ER-APR-05 the requester can't approve",
  },
];
