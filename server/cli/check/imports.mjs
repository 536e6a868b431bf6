import { spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { PLANTED } from "./planted-imports.mjs";

const FOLDERS = ["app", "components", "drizzle", "e2e", "forms", "server", "proxy.ts"];
/** Far below what is there: a tool that reads no TypeScript any more would report no violation either. */
const LEAST_MODULES = 100;

/** Checks the import rules on the tree. Resolves to the complaints, one text each. */
export async function checkImports(root) {
  const result = await cruise(root, root);
  if (result.summary.totalCruised < LEAST_MODULES) {
    return [`only ${result.summary.totalCruised} modules were read: the import checker is blind`];
  }
  return result.summary.violations.map(
    (v) => `${v.rule.name}: ${v.from} → ${v.to}\n    ${ruleComments(root).get(v.rule.name) ?? ""}`,
  );
}

/** Plants a violation of each rule in an empty tree; resolves to the rules that did not notice. */
export async function checkImportRulesNotice(root) {
  const names = [...ruleComments(root).keys()];
  const complaints = names.filter((name) => !PLANTED[name]).map((name) => `rule ${name} has no planted violation`);
  const planted = await Promise.all(names.filter((name) => PLANTED[name]).map((name) => [name, PLANTED[name]]));
  const tree = fs.mkdtempSync(path.join(os.tmpdir(), "event-admin-imports-"));
  try {
    // Each plant in a tree of its own would cost a process each; as files of distinct names they share one.
    for (const [index, [, plant]] of planted.entries()) plantInto(tree, plant, `p${index}`);
    for (const name of ["tsconfig.json", "package.json"]) fs.copyFileSync(path.join(root, name), path.join(tree, name));
    fs.symlinkSync(path.join(root, "node_modules"), path.join(tree, "node_modules"));
    const { summary } = await cruise(tree, root);
    for (const [index, [name]] of planted.entries()) {
      const noticed = summary.violations.some(
        (v) => v.rule.name === name && path.basename(v.from).startsWith(`p${index}a`),
      );
      if (!noticed) complaints.push(`rule ${name} does not notice its planted violation`);
    }
  } finally {
    fs.rmSync(tree, { recursive: true, force: true });
  }
  return complaints;
}

function plantInto(tree, plant, prefix) {
  const rename = (specifier) => specifier.replace(/(^|\/)([ab])$/, `$1${prefix}$2`);
  const write = (file, text) => {
    const target = path.join(tree, path.dirname(file), `${prefix}${path.basename(file)}`);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, text);
  };
  const specifier = rename(plant.imports);
  write(
    plant.file,
    plant.type ? `import type * as x from "${specifier}";\nexport type X = typeof x;\n` : `import "${specifier}";\n`,
  );
  for (const [file, text] of Object.entries(plant.also ?? {})) write(file, text.replace('"./a"', `"./${prefix}a"`));
  if (specifier.startsWith("@/")) write(`${plant.imports.slice(2)}.ts`, "export const b = 1;\n");
}

function ruleComments(root) {
  const { forbidden } = createRequire(import.meta.url)(path.join(root, "server/cli/dependency-cruiser.cjs"));
  return new Map(forbidden.map((rule) => [rule.name, rule.comment]));
}

async function cruise(cwd, root) {
  const folders = FOLDERS.filter((folder) => fs.existsSync(path.join(cwd, folder)));
  const child = spawn(
    process.execPath,
    [
      path.join(root, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs"),
      ...["--config", path.join(root, "server/cli/dependency-cruiser.cjs"), "--output-type", "json"],
      ...folders,
    ],
    { cwd, stdio: ["ignore", "pipe", "pipe"] },
  );
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    errors += text;
  });
  await new Promise((resolve, reject) => child.once("close", resolve).once("error", reject));
  try {
    return JSON.parse(output);
  } catch {
    throw new Error(`dependency-cruiser failed: ${errors.slice(-2_000)}`);
  }
}
