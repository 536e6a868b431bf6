import { existsSync, readdirSync, readFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020";
import addFormats from "ajv-formats";
import { expect, test } from "vitest";
import { z } from "zod";
import { ERRORS } from "@/server/contracts/errors";
import { endpointRules, loadEndpointRules } from "./endpoint-rules";
import { openApiDocument } from "./openapi";
import { contracts, operations } from "./registry";

type Json = Record<string, unknown>;

/** Every property name that a JSON schema declares, at any depth. */
function propertyNames(node: unknown, names = new Set<string>()): Set<string> {
  if (Array.isArray(node)) {
    for (const element of node) propertyNames(element, names);
  } else if (node !== null && typeof node === "object") {
    const { properties } = node as { properties?: object };
    if (properties) for (const name of Object.keys(properties)) names.add(name);
    for (const child of Object.values(node)) propertyNames(child, names);
  }
  return names;
}

/** Objects of a response that would let an undeclared member through. */
function openObjects(node: unknown, path = ""): string[] {
  if (Array.isArray(node)) return node.flatMap((element, n) => openObjects(element, `${path}/${n}`));
  if (node === null || typeof node !== "object") return [];
  const { type, additionalProperties } = node as { type?: unknown; additionalProperties?: unknown };
  const here = type === "object" && additionalProperties !== false ? [path] : [];
  return [...here, ...Object.entries(node).flatMap(([name, child]) => openObjects(child, `${path}/${name}`))];
}

const responseOf = (contract: { response: z.ZodType }) => z.toJSONSchema(contract.response, { io: "output" });

/** Names that would carry what must never leave: bytes, event JSON, keys, headers, storage references, changed values. */
const FORBIDDEN =
  /^(payload|payloads|data|body|bytes|content|key|keys|sourceKey|header|headers|sourceHeaders|metadata|value|values|changes|before|after|stack|stackTrace|exception)$|ciphertext|plaintext|payloadPlain|payloadObject|objectUri|wrappedKey|decryptedPayload$|originalPayload$|correctedPayload$|^eventData$/i;
/** Counted bytes and our own identifiers: named like it, and numbers or our words by their schemas. */
const ALLOWED = new Set(["key"]);

test("ER-PAY-10 no response schema has a member for payload, event JSON, key, header, storage reference or changed value", () => {
  for (const contract of contracts()) {
    const bad = [...propertyNames(responseOf(contract))].filter((name) => FORBIDDEN.test(name) && !ALLOWED.has(name));
    expect(bad, contract.name).toEqual([]);
  }
});

test("ER-PAY-10 every object of every response is closed: what isn't declared can't ride along", () => {
  for (const contract of contracts()) expect(openObjects(responseOf(contract)), contract.name).toEqual([]);
});

test("ER-API-21 every request is a closed, bounded object, or one that drops what it doesn't know", () => {
  for (const contract of contracts()) {
    const accepted = contract.request.safeParse({ hostId: "01964b05-552a-7c4b-9184-6857e7f3dc5f", unknownMember: 1 });
    const kept = accepted.success && Object.hasOwn(accepted.data as object, "unknownMember");
    expect(kept, contract.name).toBe(false);
  }
});

test("ER-API-22 the document names, for every operation, its codes with their statuses and nothing beyond the catalog", () => {
  const { paths } = openApiDocument(true) as { paths: Record<string, { post: { responses: Record<string, Json> } }> };
  for (const [path, { post }] of Object.entries(paths)) {
    for (const [status, response] of Object.entries(post.responses)) {
      for (const code of (response["x-codes"] ?? []) as (keyof typeof ERRORS)[]) {
        expect(ERRORS[code].status, `${path} ${code}`).toBe(Number(status));
      }
    }
    expect(Object.keys(post.responses)).toEqual(expect.arrayContaining(["200", "400", "401", "403", "500"]));
  }
});

test("the committed OpenAPI document is the one the contracts make", () => {
  const committed = JSON.parse(readFileSync("server/contracts/openapi.json", "utf8"));
  expect(committed).toEqual(JSON.parse(JSON.stringify(openApiDocument(true))));
});

test("every schema of the document is a valid JSON schema", () => {
  const ajv = new Ajv2020({ strict: false });
  addFormats(ajv);
  for (const contract of contracts()) {
    for (const schema of [
      responseOf(contract),
      z.toJSONSchema(contract.request, { io: "input", unrepresentable: "any" }),
    ]) {
      expect(() => ajv.compile(schema), contract.name).not.toThrow();
    }
  }
});

test("demo operations exist in demo mode only, on every surface and in the document", () => {
  const demo = contracts().filter(({ demoOnly }) => demoOnly);
  expect(demo.length).toBeGreaterThan(0);
  const production = operations(false);
  const { paths } = openApiDocument(false) as { paths: Json };
  for (const { name } of demo) {
    expect(operations(true).has(name)).toBe(true);
    expect(production.has(name)).toBe(false);
    expect(paths[`/api/event-replay/${name}`]).toBeUndefined();
  }
});

test("ER-APR-02 the default endpoint rules name every published operation by itself, and nothing that isn't published", () => {
  const rules = loadEndpointRules("server/operations/endpoint-rules.demo.yml");
  expect([...rules.operations].sort()).toEqual([...contracts().map(({ name }) => name), "appendEvents"].sort());
});

test("ER-APR-03 role names stand in the rules file and the demo's identities, in no other source file", () => {
  const rules = readFileSync("server/operations/endpoint-rules.demo.yml", "utf8");
  const names = new Set([...rules.matchAll(/\[([^\]]+)\]/g)].flatMap((match) => (match[1] ?? "").split(/,\s*/)));
  expect(names.size).toBeGreaterThan(2);
  const holders = ["server", "app", "components", "forms"]
    .flatMap((folder) =>
      existsSync(folder)
        ? readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`)
        : [],
    )
    .filter((file) => /\.(tsx?|mjs)$/.test(file) && !file.includes(".test."))
    .filter((file) => [...names].some((name) => readFileSync(file, "utf8").includes(name)));
  expect(holders).toEqual(["server/portal/demo/identities.ts"]);
});

test("ER-APR-03 a role name chosen at random works as soon as the rules name it, and only where they do", () => {
  const rules = endpointRules({ operations: { a: ["random-role-93c1"] }, permissions: { "a:more": ["other"] } });
  const actor = { roles: ["random-role-93c1"] } as unknown as Parameters<typeof rules.mayCall>[0];
  expect(rules.mayCall(actor, "a")).toBe(true);
  expect(rules.mayCall(actor, "b")).toBe(false);
  expect(rules.mayCall({ ...actor, roles: [] }, "a")).toBe(false);
  expect(rules.may(actor, "a:more")).toBe(false);
});
