import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { readReplayConfig } from "@/server/event-replay/registry/replay-config";
import type { Actor } from "@/server/platform/http/operation-context";
import { loadEndpointRules, watchEndpointRules } from "./endpoint-rules";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "endpoint-rules-"));
afterAll(() => fs.rmSync(folder, { recursive: true }));

const actor = { roles: ["night-watch"] } as unknown as Actor;

function watched(text: string) {
  const file = path.join(folder, `${Math.random()}.yml`);
  const clock = { ms: 0 };
  const write = (content: string) => {
    fs.writeFileSync(`${file}.new`, content);
    fs.renameSync(`${file}.new`, file);
    clock.ms += 1_000;
  };
  fs.writeFileSync(file, text);
  return { file, clock, write, rules: watchEndpointRules(file, () => clock.ms) };
}

test("ER-APR-16 a changed rules file counts without restart: a role taken away may not call any more", () => {
  const { rules, write } = watched("operations: { a: [night-watch], b: [night-watch] }");
  expect(rules.current().mayCall(actor, "a")).toBe(true);
  write("operations: { b: [night-watch] }");
  expect(rules.current().mayCall(actor, "a")).toBe(false);
  expect(rules.current().mayCall(actor, "b")).toBe(true);
  write("operations: { a: [night-watch] }");
  expect(rules.current().mayCall(actor, "a")).toBe(true);
});

test("ER-APR-01 a broken or missing rules file neither widens nor narrows: the last good rules stay, and that is told", () => {
  const { rules, write, file, clock } = watched("operations: { a: [night-watch] }");
  for (const broken of ["operations: [", "", "operations: { a: night-watch }", "operations: {}\nelse: 1", "\0"]) {
    write(broken);
    expect(rules.current().mayCall(actor, "a")).toBe(true);
    expect(rules.current().mayCall(actor, "b")).toBe(false);
    expect(rules.state()).toBe("LAST_GOOD");
  }
  fs.rmSync(file);
  clock.ms += 1_000;
  expect(rules.current().mayCall(actor, "a")).toBe(true);
  expect(rules.state()).toBe("LAST_GOOD");
  write("operations: { b: [night-watch] }");
  expect([rules.current().mayCall(actor, "a"), rules.current().mayCall(actor, "b")]).toEqual([false, true]);
  expect(rules.state()).toBe("CURRENT");
});

test("ER-APR-01 without rules to begin with nothing is served", () => {
  expect(() => watchEndpointRules(path.join(folder, "absent.yml"))).toThrow();
});

test("ER-API-22 limits of the file replace the defaults one by one, and nonsense is refused", () => {
  const { rules, write } = watched("operations: {}\nlimits: { query: { perSecond: 1, burst: 2 } }");
  expect(rules.current().limits.query).toEqual({ perSecond: 1, burst: 2 });
  expect(rules.current().limits.command.burst).toBeGreaterThan(100);
  write("operations: {}\nlimits: { query: { perSecond: 0, burst: 2 } }");
  expect(rules.state()).toBe("LAST_GOOD");
  write("operations: {}\nlimits: { qurey: { perSecond: 1, burst: 2 } }");
  expect(rules.state()).toBe("LAST_GOOD");
});

test("ER-APR-02 every operation has a role list of its own: changing one changes no other", () => {
  const demo = loadEndpointRules("server/operations/endpoint-rules.demo.yml");
  for (const operation of demo.operations) {
    const { rules } = watched(`operations: { ${operation}: [night-watch] }`);
    const allowed = [...demo.operations].filter((other) => rules.current().mayCall(actor, other));
    expect(allowed).toEqual([operation]);
  }
});

test("ER-CFG-18 roles live in the endpoint rules: event-replay.yml has no place for them, nor the rules for its switches", () => {
  const breaker = path.join(folder, "event-replay.yml");
  fs.writeFileSync(breaker, "enabled: true\n");
  expect(readReplayConfig(breaker).enabled).toBe(true);
  for (const key of ["operations", "roles", "permissions", "executeEventReplay", "limits"]) {
    fs.writeFileSync(breaker, `enabled: true\n${key}: { executeEventReplay: [night-watch] }\n`);
    expect(readReplayConfig(breaker).enabled, key).toBe(false);
  }
  const { rules, write } = watched("operations: { a: [night-watch] }");
  for (const key of ["enabled: false", "excludedEventTypes: []"]) {
    write(`operations: { b: [night-watch] }\n${key}\n`);
    expect(rules.state()).toBe("LAST_GOOD");
  }
});
