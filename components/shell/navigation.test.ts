import { expect, test } from "vitest";
import { AREAS, areaOf, placeIn } from "./navigation";

test("every area has an address, a name and a key of its own", () => {
  for (const part of ["href", "name", "key"] as const) {
    expect(new Set(AREAS.map((a) => a[part])).size).toBe(AREAS.length);
  }
});

test("a page belongs to one area, also where its address does not begin with the area's", () => {
  expect(areaOf("/approvals")?.name).toBe("Approvals");
  expect(areaOf("/event-replay/requests/01a2")?.name).toBe("Requests");
  expect(areaOf("/event-replay/plan")?.name).toBe("Failures");
  expect(areaOf("/")?.name).toBe("Overview");
  expect(areaOf("/event-replay/failures-of-another-kind")).toBeUndefined();
});

test("a page names the artifact it shows below its area, and nothing on the area's own page", () => {
  const requests = areaOf("/event-replay/requests");
  expect(requests && placeIn(requests, "/event-replay/requests")).toBeUndefined();
  expect(requests && placeIn(requests, "/event-replay/requests/01a2")).toBe("01a2");
});
