import { expect, test } from "vitest";
import { createLog, type LogFields } from "./log";

function written(act: (log: ReturnType<typeof createLog>) => void): string {
  let text = "";
  act(
    createLog({
      write(line: string) {
        text += line;
      },
    }),
  );
  return text;
}

test("ER-OBS-08 ER-PAY-10 only listed fields of their declared kind pass into a log line", () => {
  const line = JSON.parse(
    written((log) =>
      log.error("operation failed", {
        requestId: "0193f2d0-0000-7000-8000-000000000001",
        code: "INTERNAL",
        attempt: 2,
        payload: "canary",
        error: new Error("canary"),
        operation: "has canary spaces",
        hostId: "canary; drop",
        status: "canary",
      } as unknown as LogFields),
    ),
  );
  expect(line).toMatchObject({ level: "error", msg: "operation failed", code: "INTERNAL", attempt: 2 });
  expect(line.requestId).toBe("0193f2d0-0000-7000-8000-000000000001");
  expect(JSON.stringify(line)).not.toContain("canary");
});

test("ER-OBS-08 a message that is not a plain phrase of the source is not written", () => {
  const text = written((log) => log.warn('duplicate key value "canary" violates\nunique constraint'));
  expect(text).toContain("event without a plain name");
  expect(text).not.toContain("canary");
});
