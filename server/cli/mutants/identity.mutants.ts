// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are source code
import type { Mutant } from "@/server/cli/mutants/mutant";

const AUTH = "server/platform/auth";
const LINKS = "server/governance/person-links.int.test.ts";

/** Who somebody is, whose token counts, and that two accounts of one person stay one person. */
export const mutants: readonly Mutant[] = [
  {
    id: "ER-APR-05",
    removes: "an approver's linked accounts are asked for",
    file: "server/governance/people.ts",
    find: '"SELECT id FROM ea_identities_of($1) AS id"',
    replace: '"SELECT $1::text AS id"',
    test: LINKS,
    title: "ER-APR-05 an account that was linked",
  },
  {
    id: "ER-APR-05",
    removes: "the database compares persons, not texts, when a decision is written",
    file: "drizzle/migrations/0006_person_links.sql",
    find: "WHERE own = decider",
    replace: "WHERE own = decider AND own = NEW.requested_by",
    test: LINKS,
    title: "ER-APR-05 the database asks when the decision is written",
  },
  {
    id: "ER-APR-05",
    removes: "an identity is the subject byte for byte",
    file: `${AUTH}/oidc/claims.ts`,
    find: "const personId = `${names.issuer}|${sub}`;",
    replace: "const personId = `${names.issuer}|${sub.toLowerCase().trim()}`;",
    test: `${AUTH}/oidc/claims.test.ts`,
    title: "ER-APR-05 a person is issuer and subject",
  },
  {
    id: "ER-APR-05",
    removes: "a linked account is no eligible approver",
    file: "server/governance/people.ts",
    find: "person_id <> ALL (ARRAY(SELECT ea_identities_of($2)))",
    replace: "person_id <> $2",
    test: LINKS,
    title: "ER-APR-05 a linked account is no eligible approver",
  },
  {
    id: "ER-APR-09",
    removes: "a client's own token is a machine's, whatever claims it carries",
    file: `${AUTH}/oidc/claims.ts`,
    find: 'human: userId !== "" && !isMachine(payload),',
    replace: 'human: userId !== "",',
    test: `${AUTH}/oidc/claims.test.ts`,
    title: "ER-APR-09 a token is a person's only",
  },
  {
    id: "ER-APR-18",
    removes: "the audience of a token is judged",
    file: `${AUTH}/oidc/verify-token.ts`,
    find: "      audience: oidc.audience,\n",
    replace: "",
    test: `${AUTH}/oidc/verify-token.test.ts`,
    title: "ER-APR-18 issuer, audience, times",
  },
  {
    id: "ER-APR-08",
    removes: "an account whose token can't be judged is signed in",
    file: `${AUTH}/auth-options.ts`,
    find: "    if (!verdict.ok) return refuse(`TOKEN_${verdict.problem}`);\n",
    replace: "    if (!verdict.ok) return true;\n",
    test: `${AUTH}/organisation-sign-in.int.test.ts`,
    title: "ER-APR-08 an opaque access token",
  },
];
