import { randomUUID } from "node:crypto";
import { expect, test } from "@playwright/test";
import { HOST_ID, open, ready, script, signIn } from "./console";

/** In every value of the events appended here. */
const CANARY = `cnry${randomUUID().slice(0, 8)}`;

const ADDRESSES = [
  "/",
  "/event-replay/failures",
  `/event-replay/failures?search=${encodeURIComponent("Failed")}`,
  "/event-replay/requests",
  "/approvals",
  "/notifications",
  "/audit",
  "/api-docs",
];

const event = (type: string, aggregatetype: string, subject: string, data: object) => ({
  specversion: "1.0",
  id: randomUUID(),
  source: `urn:${CANARY}`,
  type,
  time: "2026-01-02T03:04:05Z",
  subject,
  host: HOST_ID,
  user: randomUUID(),
  nonce: 1,
  aggregatetype,
  aggregateversion: 1,
  data: { hostId: HOST_ID, ...data },
});

test("ER-UI-27 ER-PAY-10 no page, its network log or its storage holds a value of an event, of projected and failed ones alike", async ({
  page,
}) => {
  test.setTimeout(120_000);
  const leaks: string[] = [];
  const reading: Promise<void>[] = [];
  let looked = 0;
  const look = (where: string, text: string) => {
    looked += 1;
    const at = text.indexOf(CANARY);
    if (at >= 0) leaks.push(`${where}: ${text.slice(Math.max(0, at - 120), at + 40)}`);
  };
  page.on("console", (message) => look("console", message.text()));
  page.on("request", (request) => look(`request ${request.url()}`, `${request.url()} ${request.postData() ?? ""}`));
  page.on("response", (response) => {
    if (/\/_next\/static\//.test(response.url())) return;
    look(`headers ${response.url()}`, JSON.stringify(response.headers()));
    // A page left early takes its bodies with it; what it showed is in its DOM.
    reading.push(
      response.text().then(
        (text) => look(`response ${response.url()}`, text),
        () => undefined,
      ),
    );
  });

  await signIn(page, "alice");
  script("demo", "break");
  const token = script("token", "alice").split("\n").at(-1);
  const id = randomUUID();
  const failing = event("ConfigPropertyUpdatedEvent", "ConfigProperty", id, { propertyId: id, propertyName: CANARY });
  const person = { userId: id, email: `${CANARY}@example.org`, entityId: CANARY, userType: CANARY, language: "en" };
  for (const each of [
    failing,
    event("UserUpdatedEvent", "User", id, { ...person, firstName: CANARY, address: CANARY }),
  ]) {
    const answer = await page.request.post("/api/events", {
      data: [each],
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.status(), await answer.text()).toBe(200);
  }
  // Found by its aggregate: by then it is captured.
  const found = async () => {
    const answer = await page.request.post("/api/event-replay/listEventReplayCandidate", {
      data: { hostId: HOST_ID, search: `ConfigProperty:${id}` },
      headers: { authorization: `Bearer ${token}` },
    });
    return (await answer.json()).items?.[0]?.failureId as string | undefined;
  };
  await expect.poll(found, { timeout: 20_000 }).toBeTruthy();

  for (const address of [...ADDRESSES, `/event-replay/failures/${await found()}`]) {
    await open(page, address).catch(() => ready(page).catch(() => undefined));
    await page.waitForLoadState("networkidle").catch(() => undefined);
    look(`DOM of ${address}`, await page.content());
    look(
      `storage of ${address}`,
      await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])),
    );
  }
  await Promise.all(reading);
  expect(looked).toBeGreaterThan(50);
  expect(leaks).toEqual([]);
});
