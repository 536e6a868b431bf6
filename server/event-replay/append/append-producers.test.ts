import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const WRITES =
  /insert\s+into\s+(?:public\.)?"?(?:event_store_t|outbox_message_t|notification_t)\b|\.insert\(\s*(?:\w+\.)?(?:eventStore|outboxMessage|notification)\b|copy\s+(?:event_store_t|outbox_message_t|notification_t)\b/i;

function sources(folder: string): string[] {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" || entry.name.startsWith(".") ? [] : sources(name);
    return /\.(ts|tsx|mts|mjs|js|cjs|sql)$/.test(entry.name) ? [name] : [];
  });
}

test("ER-APP-18 no code but the append repository inserts into event_store_t, outbox_message_t or notification_t", () => {
  const product = ["server", "app", "components", "drizzle", "forms"]
    .map((folder) => path.join(ROOT, folder))
    .filter((folder) => fs.existsSync(folder))
    .flatMap(sources)
    .map((file) => path.relative(ROOT, file))
    .filter(
      (file) =>
        !/\.test\.tsx?$/.test(file) &&
        !file.startsWith("server/testing/") &&
        !/^server\/cli\/(bench|mutants)\//.test(file),
    );
  expect(product.length).toBeGreaterThan(50);
  const writers = product.filter((file) => WRITES.test(fs.readFileSync(path.join(ROOT, file), "utf8")));
  expect(writers).toEqual(["server/event-replay/append/repository.ts"]);
});

test("ER-APP-18 commands, direct append and import all reach the repository through the one boundary", () => {
  const folder = path.join(ROOT, "server/event-replay/append");
  const files = fs.readdirSync(folder).filter((name) => name.endsWith(".ts") && !name.includes(".test."));
  const importing = (target: RegExp) =>
    files.filter((name) => target.test(fs.readFileSync(path.join(folder, name), "utf8"))).sort();
  expect(importing(/\b(insertStore|insertOutbox)\b/)).toEqual(["append-prepared.ts", "repository.ts"]);
  expect(importing(/\bappendPrepared\b/)).toEqual(["append-prepared.ts", "append-transaction.ts"]);
  expect(importing(/\brunAppend\b/)).toEqual(["append-command.ts", "append-transaction.ts", "import-events.ts"]);
});
