import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { CliRefusal, runCli } from "@/server/cli/run-cli";
import { openApiDocument } from "@/server/operations/openapi";

const FILE = "server/contracts/openapi.json";

// `npm run openapi`: writes the document from the contracts; with --check only says whether the committed copy is current.
await runCli(async () => {
  const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
  const text = `${JSON.stringify(openApiDocument(true), null, 2)}\n`;
  if (!values.check) {
    writeFileSync(FILE, text);
    process.stdout.write(`${FILE} written\n`);
  } else if (readFileSync(FILE, "utf8") !== text) {
    throw new CliRefusal(`${FILE} is not current: run npm run openapi.`);
  }
});
