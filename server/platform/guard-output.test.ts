import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { guardConsole, guardCrashes } from "./guard-output";
import { createLog } from "./log";

const CANARY = "cnry-guard-81";

/** As the driver throws it: values in the message, the detail and, by a wrapper, in the cause. */
const driverError = Object.assign(new Error(`duplicate key value (${CANARY})`), {
  code: "23505",
  detail: `Key (email)=(${CANARY}) already exists.`,
  constraint: "user_email_uk",
  table: "user_t",
});

function collector() {
  const lines: Record<string, unknown>[] = [];
  return { lines, log: createLog({ write: (line: string) => void lines.push(JSON.parse(line)) }) };
}

test("ER-OBS-08 ER-PAY-17 what a framework reports by the console reaches the log as kind, SQLSTATE and constraint, without its text", () => {
  const { lines, log } = collector();
  const output = { error: () => undefined, warn: () => undefined } as unknown as Pick<Console, "error" | "warn">;
  guardConsole(output, log);
  output.error("⨯", driverError);
  output.error(Object.assign(new Error(CANARY, { cause: driverError }), { digest: "1234567890" }));
  output.error(` ⨯ Error: ${CANARY}\n    at file`);
  output.warn(CANARY);
  output.error({ payload: CANARY });
  expect(lines).toHaveLength(5);
  expect(JSON.stringify(lines)).not.toContain(CANARY);
  expect(lines[0]).toMatchObject({ errorKind: "DATABASE", sqlState: "23505", constraint: "user_email_uk" });
  expect(lines[1]).toMatchObject({ errorKind: "DATABASE", sqlState: "23505", code: "1234567890" });
});

test("ER-OBS-08 a rejection or exception that nobody handles is logged reduced, and ends a processor with exit code 1", () => {
  for (const exit of [true, false]) {
    const { lines, log } = collector();
    const codes: number[] = [];
    const target = Object.assign(new EventEmitter(), { exit: (code: number) => void codes.push(code) });
    guardCrashes({ exit }, target as unknown as Parameters<typeof guardCrashes>[1], log);
    target.emit("unhandledRejection", driverError);
    target.emit("uncaughtException", new RangeError(CANARY));
    expect(lines).toMatchObject([{ errorKind: "DATABASE", sqlState: "23505" }, { errorKind: "RangeError" }]);
    expect(JSON.stringify(lines)).not.toContain(CANARY);
    expect(codes).toEqual(exit ? [1, 1] : []);
  }
});
