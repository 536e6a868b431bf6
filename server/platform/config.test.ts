import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadConfig } from "./config";
import { ConfigError } from "./config-error";

const DEMO = {
  DATABASE_URL: "postgres://u:secretpw@127.0.0.1:5432/db",
  EVENT_ADMIN_DEMO: "1",
  NEXTAUTH_SECRET: "0123456789abcdef0123456789abcdef",
};

function refusal(env: Record<string, string | undefined>): ConfigError {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("expected a refusal");
}

test("ER-PAY-12 the database, the session secret and demo mode are enough to start: no encryption or key setting exists", () => {
  const config = loadConfig(DEMO);
  expect(config.demo).toBe(true);
  expect(Object.keys(config).filter((name) => /key|crypt|cipher|vault|kms|object/i.test(name))).toEqual([]);
});

test("without demo mode and without an identity provider the server refuses to start and says so", () => {
  const { EVENT_ADMIN_DEMO: _off, ...rest } = DEMO;
  expect(refusal(rest).setting).toBe("OIDC_ISSUER");
});

test("demo mode refuses a database that is not on this machine, and shows no part of its address", () => {
  const error = refusal({ ...DEMO, DATABASE_URL: "postgres://u:secretpw@db.example.org/x" });
  expect(error.setting).toBe("EVENT_ADMIN_DEMO");
  expect(error.message).not.toContain("secretpw");
});

test("a missing or short session secret is refused by name, never by value", () => {
  expect(refusal({ ...DEMO, NEXTAUTH_SECRET: undefined }).setting).toBe("NEXTAUTH_SECRET");
  expect(refusal({ ...DEMO, NEXTAUTH_SECRET: "shortvalue" }).message).not.toContain("shortvalue");
});

test("several secrets are all accepted, the first one signs, and a short one among them is refused", () => {
  const [one, two] = ["a".repeat(32), "b".repeat(40)];
  expect(loadConfig({ ...DEMO, NEXTAUTH_SECRET: `${one}, ${two}` }).secrets).toEqual([one, two]);
  expect(refusal({ ...DEMO, NEXTAUTH_SECRET: `${one} short` }).setting).toBe("NEXTAUTH_SECRET");
});

test("an identity provider is configured whole or not at all: each missing or impossible setting is refused by name", () => {
  const provider = {
    OIDC_ISSUER: "https://id.example.org/realm",
    OIDC_CLIENT_ID: "ea",
    OIDC_CLIENT_SECRET: "cs-value",
  };
  const { EVENT_ADMIN_DEMO: _off, ...base } = DEMO;
  const config = loadConfig({ ...base, ...provider });
  expect(config.demo).toBe(false);
  expect(config.oidc).toMatchObject({
    audience: "ea",
    scope: "openid profile",
    hostClaim: "host",
    roleClaim: "role",
    userClaim: "uid",
  });
  const wrong: [string, string | undefined][] = [
    ["OIDC_CLIENT_ID", undefined],
    ["OIDC_CLIENT_SECRET", undefined],
    ["OIDC_ISSUER", "http://id.example.org"],
    ["OIDC_ISSUER", "id.example.org"],
    ["OIDC_ISSUER", "https://id.example.org/a|b"],
    ["OIDC_SCOPE", "profile"],
    ["OIDC_ID_TOKEN_ALG", "HS256"],
  ];
  for (const [setting, value] of wrong) {
    const error = refusal({ ...base, ...provider, [setting]: value });
    expect(error.setting).toBe(setting);
    expect(error.message).not.toContain("cs-value");
  }
  expect(loadConfig({ ...base, ...provider, OIDC_ISSUER: "http://127.0.0.1:8080" }).oidc).not.toBeNull();
});

test("ER-CAP-38 the source comes from EVENT_SOURCE alone: no other setting, in the environment or in a replay file, selects it", () => {
  expect(loadConfig(DEMO).eventSource).toBe("database");
  expect(loadConfig({ ...DEMO, EVENT_SOURCE: "kafka" }).eventSource).toBe("kafka");
  expect(refusal({ ...DEMO, EVENT_SOURCE: "both" }).setting).toBe("EVENT_SOURCE");
  const names = sourceFiles(["server", "app"]).flatMap(envNames);
  expect(names).toContain("EVENT_SOURCE");
  expect([...new Set(names.filter((name) => /SOURCE|PROCESSOR|CAPTURE|PUBSUB/.test(name)))]).toEqual(["EVENT_SOURCE"]);
});

function sourceFiles(folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(ts|tsx|mjs)$/.test(file) && !file.includes(".test."))
      .map((file) => `${folder}/${file}`),
  );
}

function envNames(file: string): string[] {
  return namesIn(readFileSync(file, "utf8"));
}

/** Settings that a source text reads: by member, by index, or destructured, also renamed or with a default. */
function namesIn(source: string): string[] {
  const read = [...source.matchAll(/\benv\??\.?(?:\.|\[\s*["'`])([A-Z][A-Z0-9_]+)/g)].map((match) => match[1] ?? "");
  const destructured = [...source.matchAll(/\{([^{}]*)\}\s*(?::[^=;]*)?=\s*(?:[\w.]+\.)?env\b/g)].flatMap((match) =>
    (match[1] ?? "").split(",").map((part) => /^\s*["']?([A-Z][A-Z0-9_]+)/.exec(part)?.[1] ?? ""),
  );
  return [...read, ...destructured].filter((name) => name !== "");
}

test("ER-CAP-38 the scan for settings sees every way of reading one", () => {
  for (const source of [
    "process.env.A_SOURCE",
    "env.A_SOURCE ?? 1",
    "env?.A_SOURCE",
    'env["A_SOURCE"]',
    "env['A_SOURCE']",
    "env[`A_SOURCE`]",
    "const { A_SOURCE } = process.env;",
    "const {\n  A_SOURCE: source = '',\n} = env;",
    'const { "A_SOURCE": source }: Env = env;',
  ]) {
    expect(namesIn(source), source).toEqual(["A_SOURCE"]);
  }
  expect(namesIn("const { a } = environment; const A_SOURCE = 1;")).toEqual([]);
});
