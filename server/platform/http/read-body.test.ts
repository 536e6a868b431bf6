import { expect, test } from "vitest";
import { readBody } from "./read-body";

const post = (body: BodyInit, headers: Record<string, string> = {}) =>
  new Request("http://own.invalid/", { method: "POST", body, headers, duplex: "half" } as RequestInit);

test("ER-API-21 reading stops at the limit, whatever length the caller declares", async () => {
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(1024));
    },
  });
  await expect(readBody(post(endless), 10_000)).rejects.toMatchObject({ code: "REPLAY_LIMIT_EXCEEDED" });
  expect(pulled).toBeLessThan(20);
});

test("ER-API-21 a declared length beyond the limit is refused before a byte is read", async () => {
  await expect(readBody(post("x", { "content-length": "10001" }), 10_000)).rejects.toMatchObject({
    code: "REPLAY_LIMIT_EXCEEDED",
  });
});

test("ER-API-21 a body of exactly the limit is read whole", async () => {
  expect((await readBody(post("a".repeat(10_000)), 10_000)).length).toBe(10_000);
});
