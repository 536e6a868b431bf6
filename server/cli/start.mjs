#!/usr/bin/env node
// `npm start`: from a fresh clone to the running product. Only Node's own modules until the packages are installed.
import { parseArgs } from "node:util";
import { StartError } from "./supervisor/start-error.mjs";

const MINIMUM = [20, 12];

try {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < MINIMUM[0] || (major === MINIMUM[0] && minor < MINIMUM[1])) {
    throw new StartError(`Node ${MINIMUM.join(".")} or newer is needed; this is ${process.versions.node}.`);
  }
  const { values } = parseArgs({ options: { dev: { type: "boolean", default: false } } });
  const { supervise } = await import("./supervisor/supervise.mjs");
  await supervise({ dev: values.dev });
} catch (error) {
  // A refusal speaks for itself; anything else is a defect of ours and shows where it comes from.
  process.stderr.write(`\nEvent Admin did not start.\n${error.forPerson ? error.message : (error.stack ?? error)}\n`);
  process.exit(1);
}
