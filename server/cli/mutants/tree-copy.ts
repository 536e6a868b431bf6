import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Mutant } from "@/server/cli/mutants/mutant";

const LEFT_OUT = new Set(["node_modules", ".git", ".next", ".data", "test-results", "playwright-report", ".bench"]);

export type TreeCopy = {
  readonly root: string;
  /** Runs `work` with the one edit applied, and takes it back whatever happens. */
  withEdit<T>(mutant: Mutant, work: () => Promise<T>): Promise<T>;
  remove(): void;
};

/** A copy of the working tree that shares the installed packages. */
export function copyTree(root: string): TreeCopy {
  const target = fs.mkdtempSync(path.join(os.tmpdir(), "event-admin-mutants-"));
  for (const name of fs.readdirSync(root)) {
    if (!LEFT_OUT.has(name)) fs.cpSync(path.join(root, name), path.join(target, name), { recursive: true });
  }
  fs.symlinkSync(path.join(root, "node_modules"), path.join(target, "node_modules"));
  return {
    root: target,
    async withEdit(mutant, work) {
      const file = path.join(target, mutant.file);
      const original = fs.readFileSync(file, "utf8");
      fs.writeFileSync(
        file,
        original.replace(mutant.find, () => mutant.replace),
      );
      try {
        return await work();
      } finally {
        fs.writeFileSync(file, original);
      }
    },
    remove: () => fs.rmSync(target, { recursive: true, force: true }),
  };
}

/** Complaints about an entry that can't be judged: file or test absent, text absent or ambiguous, an edit that changes nothing. */
export function defectsOf(mutant: Mutant, root: string): string[] {
  const defects: string[] = [];
  const file = path.join(root, mutant.file);
  if (!fs.existsSync(file)) defects.push(`${mutant.file} does not exist`);
  else {
    const found = fs.readFileSync(file, "utf8").split(mutant.find).length - 1;
    if (found !== 1) defects.push(`its text occurs ${found} times in ${mutant.file}, not once`);
  }
  if (mutant.find === mutant.replace) defects.push("its edit changes nothing");
  if (!fs.existsSync(path.join(root, mutant.test))) defects.push(`${mutant.test} does not exist`);
  return defects;
}
