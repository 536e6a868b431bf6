import type { Mutant } from "@/server/cli/mutants/mutant";

const FAULTS = "app/portal/canary-faults.int.test.ts";
const FAULTS_TITLE = "ER-PAY-10 ER-PAY-17 ER-OBS-08 no operation lets a value out";
const GRANTS = "drizzle/migrations/grants.sql";
const ROLES = "server/testing/roles.int.test.ts";

/** What never leaves, and who may read or change what in the database. */
export const mutants: readonly Mutant[] = [
  {
    id: "ER-PAY-10",
    removes: "the text of an unexpected error stays out of the answer",
    file: "server/platform/http/refusal.ts",
    find: 'return refusal("INTERNAL", {}, requestId);',
    replace: 'return { ...refusal("INTERNAL", {}, requestId), sentence: String(error) };',
    test: FAULTS,
    title: FAULTS_TITLE,
  },
  {
    id: "ER-PAY-10",
    removes: "an identifier of a database error is taken only when it is one",
    file: "server/platform/db/pg-errors.ts",
    find: 'return typeof value === "string" && IDENTIFIER.test(value) ? value : null;',
    replace: 'return typeof value === "string" ? value.replaceAll(" ", "_") : null;',
    test: FAULTS,
    title: FAULTS_TITLE,
  },
  {
    id: "ER-PAY-10",
    removes: "an answer with a payload-like member can't be published",
    file: "server/operations/response-guard.ts",
    find: "return NAMES.has(plain) || ENDINGS.test(plain);",
    replace: "return plain.length === 0;",
    test: "server/operations/response-guard.contract.test.ts",
    title: "ER-PAY-10 a payload-like member is refused wherever it hides",
  },
  {
    id: "ER-PAY-10",
    removes: "the reading role sees no bytes",
    file: GRANTS,
    find: "GRANT USAGE ON SCHEMA public TO event_admin_read;\n",
    replace:
      "GRANT USAGE ON SCHEMA public TO event_admin_read;\nGRANT SELECT (event_bytes) ON outbox_message_t TO event_admin_read;\n",
    test: ROLES,
    title: "ER-PAY-10 the reading role writes nothing anywhere",
  },
  {
    id: "ER-OBS-08",
    removes: "what a framework reports is reduced before it is written",
    file: "server/platform/guard-output.ts",
    find: '  target.error = report("error");\n',
    replace: "",
    test: "server/platform/guard-output.test.ts",
    title: "ER-OBS-08 ER-PAY-17 what a framework reports by the console",
  },
];
