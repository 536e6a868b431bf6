import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { startEmbeddedPostgres } from "@/server/cli/embedded-postgres.mjs";
import type { Mutant } from "@/server/cli/mutants/mutant";
import { runTest } from "@/server/cli/mutants/run-test";
import { copyTree, defectsOf, type TreeCopy } from "@/server/cli/mutants/tree-copy";
import { CliRefusal, runCli } from "@/server/cli/run-cli";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const HERE = import.meta.dirname;

type Verdict = "killed" | "SURVIVED" | "BROKEN";
type Result = { readonly mutant: Mutant; readonly verdict: Verdict; readonly note: string; readonly seconds: number };

// Before the run: top-level await would reach its first use before a later declaration.
const greenRuns = new Map<string, Promise<string | null>>();

// Usage: npm run test:mutants -- [--only ID[,ID…]] [--jobs N]. Exit 0 only when every mutant was killed.
await runCli(async () => {
  const { values } = parseArgs({ options: { only: { type: "string" }, jobs: { type: "string", default: "2" } } });
  const mutants = select(await loadMutants(), values.only);
  refuseDefects(mutants);
  await withServer(async (databaseUrl) => {
    const results = await judgeAll(mutants, databaseUrl, Math.max(1, Number(values.jobs)));
    const count = (verdict: Verdict) => results.filter((r) => r.verdict === verdict).length;
    process.stdout.write(`${count("killed")} killed, ${count("SURVIVED")} survived, ${count("BROKEN")} broken\n`);
    if (count("killed") !== results.length)
      throw new CliRefusal("Some behaviours can be removed unnoticed (see above).");
  });
});

async function loadMutants(): Promise<Mutant[]> {
  const files = fs.readdirSync(HERE).filter((name) => name.endsWith(".mutants.ts"));
  const lists = await Promise.all(
    files.sort().map((name) => import(path.join(HERE, name)) as Promise<{ mutants: readonly Mutant[] }>),
  );
  return lists.flatMap((list) => [...list.mutants]);
}

function select(mutants: readonly Mutant[], only: string | undefined): Mutant[] {
  const ids = only?.split(",").map((id) => id.trim());
  const chosen = mutants.filter((mutant) => ids === undefined || ids.includes(mutant.id));
  if (chosen.length === 0) throw new CliRefusal(only ? `No mutant for ${only}.` : "No list of mutants found.");
  return chosen;
}

function refuseDefects(mutants: readonly Mutant[]): void {
  const lines = mutants.flatMap((mutant) =>
    defectsOf(mutant, ROOT).map((text) => `${mutant.id} (${mutant.removes}): ${text}`),
  );
  if (lines.length > 0) throw new CliRefusal(`Entries that can't be judged:\n${lines.join("\n")}`, 2);
}

/** One server for all runs: each test file clones its database from the template of its tree's own migrations. */
async function withServer(work: (databaseUrl: string) => Promise<void>): Promise<void> {
  if (process.env.TEST_DATABASE_URL) return work(process.env.TEST_DATABASE_URL);
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "event-admin-mutants-pg-"));
  const server = await startEmbeddedPostgres({ home, throwaway: true });
  try {
    await work(server.url("postgres"));
  } finally {
    await server.stop();
    fs.rmSync(home, { recursive: true, force: true });
  }
}

async function judgeAll(mutants: readonly Mutant[], databaseUrl: string, jobs: number): Promise<Result[]> {
  const queue = [...mutants];
  const results: Result[] = [];
  const worker = async () => {
    const tree = copyTree(ROOT);
    try {
      for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
        const result = await judge(mutant, tree, databaseUrl);
        results.push(result);
        print(result);
      }
    } finally {
      tree.remove();
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, mutants.length) }, worker));
  return results;
}

async function judge(mutant: Mutant, tree: TreeCopy, databaseUrl: string): Promise<Result> {
  const started = Date.now();
  const done = (verdict: Verdict, note = ""): Result => ({
    mutant,
    verdict,
    note,
    seconds: (Date.now() - started) / 1000,
  });
  const key = `${mutant.test}\0${mutant.title}\0${mutant.id}`;
  if (!greenRuns.has(key)) greenRuns.set(key, whyNotGreen(mutant, tree, databaseUrl));
  const notGreen = await greenRuns.get(key);
  if (notGreen) return done("BROKEN", notGreen);
  const outcomes = await tree.withEdit(mutant, () => runTest(tree.root, mutant.test, mutant.title, databaseUrl));
  if (outcomes.length === 0) return done("BROKEN", "the edited tree doesn't load, so nothing was tested");
  return outcomes.some((outcome) => !outcome.passed) ? done("killed") : done("SURVIVED", mutant.test);
}

async function whyNotGreen(mutant: Mutant, tree: TreeCopy, databaseUrl: string): Promise<string | null> {
  const outcomes = await runTest(tree.root, mutant.test, mutant.title, databaseUrl);
  if (outcomes.length === 0) return `no test of ${mutant.test} is called “${mutant.title}”`;
  if (outcomes.some((outcome) => !outcome.passed)) return `${mutant.test} is red without the edit`;
  if (!outcomes.some((outcome) => outcome.title.includes(mutant.id))) return "the test's title doesn't carry the id";
  return null;
}

function print({ mutant, verdict, note, seconds }: Result): void {
  const columns = [
    verdict.padEnd(8),
    mutant.id.padEnd(10),
    `${seconds.toFixed(1)} s`.padStart(7),
    mutant.removes,
    note && `— ${note}`,
  ];
  process.stdout.write(`${columns.filter(Boolean).join("  ")}\n`);
}
