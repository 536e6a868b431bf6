import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  countOf,
  INBOX_SECTIONS,
  inboxFacts,
  inboxSum,
  newestCounts,
  openTotal,
  whoDecides,
  whyNotYou,
} from "./inbox-view";

const requester = (isYou: boolean) => ({ personId: "p", name: "Alice Moreau", isYou });
const anyCounts = fc.record({ waitingForMe: fc.nat(900), mineWaiting: fc.nat(900), notMine: fc.nat(900) });

test("ER-UI-17 the reason why the viewer does not decide is the server's, word for word", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 240 }), fc.boolean(), (reason, stale) => {
      expect(whyNotYou({ approve: { allowed: false, reason }, stale, requester: requester(false) })).toBe(reason);
    }),
  );
  const own = { approve: { allowed: false, reason: "You asked for it, so someone else decides." }, stale: false };
  expect(whyNotYou({ ...own, requester: requester(true) })).toBe(own.approve.reason);
});

test("ER-UI-17 no name of a role or of an endpoint's rule stands in the inbox's source", () => {
  const files = readdirSync(import.meta.dirname).filter((f) => /\.tsx?$/.test(f) && !f.includes(".test."));
  expect(files.length).toBeGreaterThan(3);
  for (const file of files) {
    expect(readFileSync(join(import.meta.dirname, file), "utf8"), file).not.toMatch(
      /\broles?\b.*["'`]|["'`](operator|admin)/i,
    );
  }
});

test("one's own plan that went stale says that it waits in vain and what to do", () => {
  const words = whyNotYou({ approve: { allowed: false, reason: "x" }, stale: true, requester: requester(true) });
  expect(words).toContain("nobody can approve it");
  expect(words).toContain("plan again");
});

test("the sections are everything that awaits a decision, each once, and their numbers add up to it", () => {
  expect(new Set(INBOX_SECTIONS.map((s) => s.view)).size).toBe(3);
  fc.assert(
    fc.property(anyCounts, (counts) => {
      const sum = INBOX_SECTIONS.reduce((n, section) => n + countOf(counts, section.view), 0);
      expect(sum).toBe(openTotal(counts));
      expect(inboxFacts(counts).length > 0).toBe(sum > 0);
    }),
  );
  expect(inboxSum({ waitingForMe: 3, mineWaiting: 2, notMine: 1200 })).toBe(
    "1,205 plans await a decision on this host: 3 for you, 2 of yours, 1,200 not yours to decide",
  );
});

test("the numbers of a page are those of its newest answer", () => {
  const at = (asOf: string, waitingForMe: number) => ({ asOf, counts: { waitingForMe, mineWaiting: 0, notMine: 0 } });
  const [early, late] = [at("2026-12-01T00:59:59.999999Z", 1), at("2026-12-01T01:00:00.000000Z", 2)];
  expect(newestCounts([early, undefined, late])?.waitingForMe).toBe(2);
  expect(newestCounts([late, early])?.waitingForMe).toBe(2);
  expect(newestCounts([undefined])).toBeUndefined();
});

test("one's own plan names who can decide it, or says that somebody has to sign in first", () => {
  const someone = (name: string) => ({ personId: name, name, isYou: false });
  expect(whoDecides([someone("Bob Okafor"), someone("Erin")])).toBe("Bob Okafor or Erin");
  expect(whoDecides([])).toContain("a second person who may approve has to sign in");
});
