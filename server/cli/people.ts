import os from "node:os";
import { parseArgs } from "node:util";
import { withTargetDatabase } from "@/server/cli/database-target";
import { CliRefusal, runCli } from "@/server/cli/run-cli";
import {
  type LinkChange,
  type LinkOutcome,
  linkPersons,
  loadLivingLinks,
  unlinkPersons,
} from "@/server/governance/person-links";
import { createPool } from "@/server/platform/db/pool";
import { assertSchema } from "@/server/platform/db/schema-check";
import { inTransaction } from "@/server/platform/db/transaction";

const USAGE =
  'Usage: npm run people -- list | link ISSUER|SUBJECT ISSUER|SUBJECT --reason "…" [--by NAME] | unlink … (quote the |)';

const REFUSALS: Readonly<Record<Exclude<LinkOutcome, "DONE" | "ALREADY">, string>> = {
  SAME_IDENTITY: "That is one identity twice.",
  NEVER_SEEN: "At least one of the two has never signed in here, so a link would guard nothing. Check the spelling.",
};

// Accounts of one person. A command of the deployment, not an operation: whoever could call it could make two persons of one.
// Exit 0: as asked, or it already was. Exit 2: refused.
await runCli(async () => {
  const { values, positionals } = parseArgs({
    options: { reason: { type: "string" }, by: { type: "string", default: os.userInfo().username } },
    allowPositionals: true,
  });
  const [command, one, other, ...rest] = positionals;
  if (!["list", "link", "unlink"].includes(command ?? "") || rest.length > 0) throw new CliRefusal(USAGE, 2);
  await withTargetDatabase(async (databaseUrl) => {
    const pool = createPool(databaseUrl, { max: 1, name: "people" });
    try {
      await assertSchema(pool);
      if (command === "list") {
        for (const link of await inTransaction(pool, "people", loadLivingLinks)) {
          process.stdout.write(`${link.personA} = ${link.personB} since ${link.linkedTs} by ${link.linkedBy}\n`);
        }
        return;
      }
      const change = readChange(one, other, values);
      const work = command === "link" ? linkPersons : unlinkPersons;
      const outcome = await inTransaction(pool, "people", (tx) => work(tx, change));
      if (outcome !== "DONE" && outcome !== "ALREADY") throw new CliRefusal(REFUSALS[outcome], 2);
      const state = command === "link" ? "one person" : "two persons";
      process.stdout.write(outcome === "DONE" ? `They are ${state} from now on.\n` : `They are ${state} already.\n`);
    } finally {
      await pool.end();
    }
  });
});

function readChange(
  one: string | undefined,
  other: string | undefined,
  { reason, by }: { reason?: string | undefined; by: string },
): LinkChange {
  const why = reason?.trim() ?? "";
  if (!one?.includes("|") || !other?.includes("|") || why === "" || why.length > 2048 || by.trim() === "") {
    throw new CliRefusal(USAGE, 2);
  }
  return { persons: [one, other], reason: why, by: by.trim() };
}
