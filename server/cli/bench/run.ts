import path from "node:path";
import { CliRefusal, runCli } from "@/server/cli/run-cli";
import { startBenchServer } from "./bench-server";
import { measureCapture } from "./capture";
import { measureConservation } from "./conservation";
import { measureLag } from "./lag";
import { measureLists } from "./lists";
import type { Figure } from "./measure";
import { measurePlanner } from "./planner";
import { measureReplay } from "./replay";
import { measureEndurance } from "./replay-endurance";
import { printTable, writeReport } from "./report";
import { FULL, QUICK } from "./size";
import { measureArmed, measureBatches, measureFailing, measureStrict } from "./throughput";

/**
 * `npm run bench [-- --quick] [--only 1,2]`: measures this build against the work a hand-written loop and the bare database do, on
 * a durable server of its own. Every figure is a ratio inside one run (the median of interleaved rounds), except lag (milliseconds)
 * and conservation (a count). Writes `.bench/latest.json`. Ends with 0 whatever the figures: they are to be read, not asserted.
 */
await runCli(async () => {
  const args = process.argv.slice(2);
  const quick = args.includes("--quick");
  const size = quick ? QUICK : FULL;
  const only = onlyGoals(args);
  const folder = path.resolve(import.meta.dirname, "../../../.bench");
  const startedAt = new Date();
  const server = await startBenchServer(folder);
  try {
    const parts: readonly [readonly number[], string, (url: string) => Promise<Figure[]>][] = [
      [[1, 2], "engine", (url) => measureBatches(url, size)],
      [[8], "engine", (url) => measureArmed(url, size)],
      [[3], "engine", (url) => measureStrict(url, size)],
      [[4], "engine", (url) => measureFailing(url, size)],
      [[7], "engine", (url) => measureCapture(url, size)],
      [[5], "flow", (url) => measureConservation(url, size)],
      [[6], "flow", (url) => measureLag(url, size)],
      [[11], "planner", (url) => measurePlanner(url, size)],
      [[12], "replay", (url) => measureReplay(url, size)],
      [[13], "replay", (url) => measureEndurance(url, size)],
      [[9, 10], "lists", (url) => measureLists(url, size)],
    ];
    const urls = new Map<string, string>();
    const figures: Figure[] = [];
    for (const [goals, database, measure] of parts) {
      if (only !== null && !goals.some((goal) => only.includes(goal))) continue;
      const url = urls.get(database) ?? (await server.createDatabase(`bench_${database}`));
      urls.set(database, url);
      process.stderr.write(`measuring goal ${goals.join(", ")} …\n`);
      figures.push(...(await measure(url)));
    }
    figures.sort((a, b) => a.goal - b.goal);
    printTable(figures);
    writeReport(path.join(folder, "latest.json"), { quick, figures, server, startedAt });
  } finally {
    await server.stop();
  }
});

function onlyGoals(args: readonly string[]): number[] | null {
  const at = args.indexOf("--only");
  if (at < 0) return null;
  const goals = (args[at + 1] ?? "").split(",").map(Number);
  if (goals.some((goal) => !Number.isInteger(goal) || goal < 1))
    throw new CliRefusal("--only takes goal numbers: 1,2,7");
  return goals;
}
