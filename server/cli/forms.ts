import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { CliRefusal, runCli } from "@/server/cli/run-cli";
import { formsCatalog } from "@/server/portal/typed/forms-catalog";

const FILE = "forms/Forms.json";

// Writes the console's repair forms from the typed events; with --check only says whether the committed copy is current.
await runCli(async () => {
  const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
  const text = `${JSON.stringify(formsCatalog(), null, 2)}\n`;
  if (!values.check) {
    writeFileSync(FILE, text);
    process.stdout.write(`${FILE} written\n`);
  } else if (readFileSync(FILE, "utf8") !== text) {
    throw new CliRefusal(`${FILE} is not current: run npm run forms.`);
  }
});
