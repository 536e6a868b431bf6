import type { Mutant } from "@/server/cli/mutants/mutant";

const HTTP = "server/platform/http";

/** The one wrapper of every operation: what may come in, who may call, what may leave. */
export const mutants: readonly Mutant[] = [
  {
    id: "ER-PAY-10",
    removes: "an answer is checked against its contract before it leaves",
    file: `${HTTP}/handle-operation.ts`,
    find: "if (!result.success) throw new ResponseMismatch();\n  return result.data;",
    replace: "return result.success ? result.data : answered;",
    test: `${HTTP}/handle-operation.test.ts`,
    title: "ER-PAY-10 an answer with a member that its contract doesn't declare",
  },
  {
    id: "ER-PAY-10",
    removes: "a log line holds listed fields only",
    file: "server/platform/log.ts",
    find: "logger[level](allowedFields(fields),",
    replace: "logger[level](fields,",
    test: "server/platform/log.test.ts",
    title: "ER-OBS-08 ER-PAY-10 only listed fields",
  },
  {
    id: "ER-PAY-17",
    removes: "a name that the caller invented is not echoed",
    file: `${HTTP}/field-errors.ts`,
    find: 'typeof part === "number" || known.has(String(part))',
    replace: 'typeof part === "number" || known.size > 0',
    test: `${HTTP}/field-errors.test.ts`,
    title: "ER-PAY-17 no value and no invented member name",
  },
  {
    id: "ER-APR-07",
    removes: "the requested host is compared with the token's",
    file: `${HTTP}/handle-operation.ts`,
    find: "  checkHost(actor, data);\n",
    replace: "",
    test: `${HTTP}/handle-operation.test.ts`,
    title: "ER-APR-07 the host is compared before",
  },
  {
    id: "ER-APR-01",
    removes: "the endpoint rules are asked",
    file: `${HTTP}/handle-operation.ts`,
    find: "if (!gateway.mayCall(actor, contract.name))",
    replace: "if (actor.roles.length < 0)",
    test: "app/portal/surfaces.int.test.ts",
    title: "ER-APR-01 a role that the endpoint rules",
  },
  {
    id: "ER-API-01",
    removes: "queries and commands are separately routed",
    file: `${HTTP}/handle-operation.ts`,
    find: "if (call.kind !== null && call.kind !== operation.contract.kind)",
    replace: "if (call.kind !== null && operation.contract.kind === undefined)",
    test: "app/portal/surfaces.int.test.ts",
    title: "ER-API-01 a command is refused on the query path",
  },
];
