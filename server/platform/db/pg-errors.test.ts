import { expect, test } from "vitest";
import { ConnectionLostError, callDriver, isConnectionLoss, isTransient, safePgError } from "./pg-errors";

const pgError = (code: string, extra: object = {}) =>
  Object.assign(new Error("message with a value"), { code, ...extra });

test("ER-PAY-17 of a database error only SQLSTATE and plain identifiers survive", () => {
  const safe = safePgError(
    pgError("23505", { constraint: "a_key", table: "t", column: "x y", detail: "Key (email)=(canary)" }),
  );
  expect(safe).toEqual({ sqlState: "23505", constraint: "a_key", table: "t", column: null });
  expect(JSON.stringify(safe)).not.toContain("canary");
});

test("Node's own codes are no SQLSTATE", () => {
  for (const code of ["EPIPE", "EPERM", "ENOENT"]) expect(safePgError(pgError(code))).toBeNull();
  expect(isTransient(pgError("EPIPE"))).toBe(true);
  expect(isTransient(pgError("EHOSTUNREACH"))).toBe(true);
});

test("restart, failover, overload, deadlock and storage trouble are transient; refusals of data are not", () => {
  for (const code of [
    "08006",
    "40001",
    "40P01",
    "53300",
    "55P03",
    "57P01",
    "57P03",
    "25P03",
    "25006",
    "58030",
    "XX001",
  ]) {
    expect([code, isTransient(pgError(code))]).toEqual([code, true]);
  }
  for (const code of ["23505", "22001", "57014", "42P01", "P0001", "EA001", "XX000"]) {
    expect([code, isTransient(pgError(code))]).toEqual([code, false]);
  }
});

test("a handler's text can't pass for a lost connection: only what the driver itself threw counts", async () => {
  const text = "Connection terminated unexpectedly";
  expect(isConnectionLoss(new Error(text))).toBe(false);
  const driver = await callDriver(() => Promise.reject(new Error(text))).catch((error: unknown) => error);
  expect(driver).toBeInstanceOf(ConnectionLostError);
  expect(isTransient(new Error("wrapped", { cause: driver }))).toBe(true);
});

test("a database error that quotes such a text stays the database error it is", async () => {
  const error = await callDriver(() =>
    Promise.reject(Object.assign(new Error("invalid: connection terminated"), { code: "22P02" })),
  ).catch((e: unknown) => e);
  expect(isTransient(error)).toBe(false);
  expect(isConnectionLoss(error)).toBe(false);
});
