import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { BenchServer } from "./bench-server";
import type { Figure } from "./measure";

/** The table for the person at the terminal. */
export function printTable(figures: readonly Figure[]): void {
  const rows = [
    ["goal", "what", "figure", "ratio", "target", "met?"],
    ...figures.map((f) => [
      String(f.goal),
      f.what,
      f.figure,
      withUnit(f.value, f.unit),
      `${f.direction === "least" ? "≥" : "≤"} ${withUnit(f.target, f.unit)}`,
      f.met ? "yes" : "NO",
    ]),
  ];
  const widths = (rows[0] as string[]).map((_, i) => Math.max(...rows.map((row) => (row[i] as string).length)));
  for (const row of rows) {
    process.stdout.write(
      `${row
        .map((cell, i) => cell.padEnd(widths[i] as number))
        .join("  ")
        .trimEnd()}\n`,
    );
  }
}

function withUnit(value: number, unit: Figure["unit"]): string {
  if (unit === "count") return String(value);
  const text = value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
  return unit === "x" ? `${text}×` : `${text} ms`;
}

/** Everything needed to read the figures later: where, on what, of which source, how long. */
export function writeReport(
  file: string,
  run: { quick: boolean; figures: readonly Figure[]; server: BenchServer; startedAt: Date },
): void {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const cpus = os.cpus();
  const report = {
    date: run.startedAt.toISOString(),
    seconds: Math.round((Date.now() - run.startedAt.getTime()) / 1000),
    size: run.quick ? "quick" : "full",
    commit: commitOf(),
    machine: {
      cpus: cpus.length,
      model: cpus[0]?.model ?? "unknown",
      memoryGib: Math.round(os.totalmem() / 2 ** 30),
      loadAtEnd: os.loadavg(),
      platform: `${os.platform()} ${os.release()} ${os.arch()}`,
      node: process.version,
      postgres: run.server.version,
      settings: run.server.settings,
    },
    figures: run.figures,
  };
  fs.writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
}

function commitOf(): { id: string; clean: boolean } | null {
  try {
    const git = (...args: string[]) =>
      execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return { id: git("rev-parse", "HEAD").trim(), clean: git("status", "--porcelain").trim() === "" };
  } catch {
    return null;
  }
}
