import fs from "node:fs";
import path from "node:path";

const FOLDERS = ["app", "components", "drizzle", "e2e", "forms", "server"];

/** What no import rule can see. `files` says where the pattern is refused; `instead` what to write. */
const RULES = [
  {
    files: /^server\/.+\/domain\/.+(?<!\.test)\.ts$/,
    pattern: /\b(Date\.now\(|new Date\(\)|Math\.random\(|randomUUID\(|process\.(env|hrtime|pid)|performance\.now\()/,
    instead: "domain code takes the clock, ids and random values as arguments",
  },
  {
    files: /\.(ts|tsx|mjs)$/,
    pattern: /\b(TODO|FIXME|XXX|HACK)\b/,
    instead: "finish it, or leave it out",
  },
  {
    files: /^components\/(?!api\/).+\.tsx?$/,
    pattern: /(?<![\w.])fetch\(/,
    instead: "requests go through components/api",
  },
  {
    files: /^(server|e2e|components)\/.+\.(test|spec)\.tsx?$/,
    pattern: /\b(test|it|describe)\.(only|todo)\(|waitForTimeout\(/,
    instead: "run every test; wait for a state, never for a time",
  },
  {
    files: /^(app|components|server|drizzle)\/.+\.(ts|tsx)$/,
    pattern: /\bpg_advisory_lock\(|\bpg_try_advisory_lock\(/,
    instead: "advisory locks are transaction-scoped (pg_advisory_xact_lock)",
  },
];

/** Scans the sources; resolves to `file:line: what to do` texts. */
export function checkSources(root) {
  const complaints = [];
  for (const file of FOLDERS.flatMap((folder) => filesUnder(root, folder))) {
    if (file === "server/cli/check/source-rules.mjs") continue;
    const rules = RULES.filter((rule) => rule.files.test(file));
    if (rules.length === 0) continue;
    fs.readFileSync(path.join(root, file), "utf8")
      .split("\n")
      .forEach((line, index) => {
        for (const rule of rules) if (rule.pattern.test(line)) complaints.push(`${file}:${index + 1}: ${rule.instead}`);
      });
  }
  return complaints;
}

function filesUnder(root, relative) {
  const stat = fs.statSync(path.join(root, relative), { throwIfNoEntry: false });
  if (!stat) return [];
  if (!stat.isDirectory()) return [relative];
  return fs.readdirSync(path.join(root, relative)).flatMap((name) => filesUnder(root, `${relative}/${name}`));
}
