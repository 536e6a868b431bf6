import type { Mutant } from "@/server/cli/mutants/mutant";

const TYPED = "server/portal/typed/user-updated";

/** The example domain: its typed event and its commands' way through the boundary. */
export const mutants: readonly Mutant[] = [
  {
    id: "ER-APP-42",
    removes: "a user type that the published command accepts is accepted",
    file: `${TYPED}/validator.ts`,
    find: 'if (typeof user.language === "string" && !LANGUAGES.has(user.language)) {',
    replace:
      'if (typeof user.userType === "string" && !["C", "E"].includes(user.userType)) violations.push({ field: "/userType", rule: "NOT_IN_ENUMERATION" });\n  if (typeof user.language === "string" && !LANGUAGES.has(user.language)) {',
    test: `${TYPED}/user-updated.test.ts`,
    title: "ER-APP-42 the validator accepts whatever the published command accepts",
  },
  {
    id: "ER-APP-42",
    removes: "a member of another type is rejected",
    file: `${TYPED}/validator.ts`,
    find: 'if (value !== undefined && typeof value !== "string")',
    replace: 'if (value !== undefined && value !== null && typeof value !== "string")',
    test: `${TYPED}/user-updated.test.ts`,
    title: "ER-APP-42 the validator rejects what the published command rejects",
  },
  {
    id: "ER-EXE-11",
    removes: "a projected time is the event's, not the clock's",
    file: "server/portal/handlers.ts",
    find: "set.update_ts = event.time;",
    replace: "set.update_ts = new Date().toISOString();",
    test: "server/portal/handlers.int.test.ts",
    title: "ER-EXE-11 ER-EXE-12 every handler of the portal passes the harness",
  },
];
