import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

/** Every source file of the browser's side; tests speak of the control only to refuse it. */
function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return /\.tsx?$/.test(entry.name) && !/\.test\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

test("ER-UI-24 no page or component has a control that replays everything", () => {
  const files = [...sources("components"), ...sources("app")];
  expect(files.length).toBeGreaterThan(40);
  const found = files.filter((file) => /replay[\s_-]*(all|everything)/i.test(readFileSync(join(ROOT, file), "utf8")));
  expect(found).toEqual([]);
});
