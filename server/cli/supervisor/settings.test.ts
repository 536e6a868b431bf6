import { expect, test } from "vitest";
import { readSettings } from "./settings.mjs";

const ROOT = "/srv/event-admin";

test("without a database the embedded one is used, in demo mode, on port 3000 of this machine", () => {
  expect(readSettings(ROOT, {})).toMatchObject({
    databaseUrl: null,
    demo: true,
    host: "127.0.0.1",
    port: 3000,
    baseUrl: "http://127.0.0.1:3000",
    dataDir: "/srv/event-admin/.data",
  });
});

test("a database without an identity provider is refused, since nobody could sign in", () => {
  expect(() => readSettings(ROOT, { DATABASE_URL: "postgres://db.example.org/x" })).toThrow(/OIDC_ISSUER/);
  expect(
    readSettings(ROOT, { DATABASE_URL: "postgres://db.example.org/x", OIDC_ISSUER: "https://id.example.org" }).demo,
  ).toBe(false);
});

test("demo mode is refused with a database on another machine", () => {
  expect(() => readSettings(ROOT, { DATABASE_URL: "postgres://db.example.org/x", EVENT_ADMIN_DEMO: "1" })).toThrow(
    /on this machine/,
  );
  expect(readSettings(ROOT, { DATABASE_URL: "postgres://127.0.0.1/x", EVENT_ADMIN_DEMO: "1" }).demo).toBe(true);
});

test("demo mode never listens beyond this machine", () => {
  expect(() => readSettings(ROOT, { HOST: "0.0.0.0" })).toThrow(/this machine only/);
});

test("a port that is no port is refused", () => {
  expect(() => readSettings(ROOT, { PORT: "http" })).toThrow(/PORT/);
});
