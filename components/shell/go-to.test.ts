import { expect, test } from "vitest";
import { goToHits } from "./go-to";

test("an id leads to its failure first, in any case of its letters", () => {
  expect(goToHits(" 01A22CBD-1170-76DB-9AF9-3AD1FC37E98E ")[0]?.href).toBe(
    "/event-replay/failures/01a22cbd-1170-76db-9af9-3ad1fc37e98e",
  );
});

test("a scope leads to its failures, with its key kept whole", () => {
  expect(goToHits("Role:a&b|c d")[0]?.href).toBe(
    "/event-replay/failures?view=flat&scopeType=AGGREGATE&scopeKey=Role%3Aa%26b%7Cc%20d",
  );
});

test("any other text searches, and a page is found by its name", () => {
  const hits = goToHits("notif");
  expect(hits.map((h) => h.kind)).toEqual(["search", "page"]);
  expect(hits[1]?.href).toBe("/notifications");
});

test("an id that is known to be a request's leads to the request first, and to the requests that hold a failure of it", () => {
  const id = "01a22cbd-1170-76db-9af9-3ad1fc37e98e";
  expect(goToHits(id.toUpperCase(), true)[0]?.href).toBe(`/event-replay/requests/${id}`);
  const others = goToHits(id).map((h) => h.href);
  expect(others).toContain(`/event-replay/requests/${id}`);
  expect(others).toContain(`/event-replay/requests?failureId=${id}`);
});
