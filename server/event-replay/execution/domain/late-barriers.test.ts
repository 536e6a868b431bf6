import fc from "fast-check";
import { expect, test } from "vitest";
import { linksOfNewBarriers } from "./late-barriers";

const scope = (key: string) => ({ type: "AGGREGATE" as const, key });

test("ER-ISO-07 work parked before a barrier came waits for it, and so does everything behind it in a shared scope", () => {
  const waiting = [
    { deferredId: "1", scopes: [scope("a")] },
    { deferredId: "2", scopes: [scope("a"), scope("b")] },
    { deferredId: "3", scopes: [scope("b"), scope("c")] },
    { deferredId: "4", scopes: [scope("d")] },
    { deferredId: "5", scopes: [scope("c")] },
    { deferredId: "6", scopes: [scope("a")] },
  ];
  const links = linksOfNewBarriers([{ barrierId: "B", scope: scope("b") }], waiting);
  expect(links.map((link) => link.deferredId)).toEqual(["2", "3", "5", "6"]);
});

test("ER-ISO-07 links of new barriers keep the rule that successors wait for all that predecessors wait for", () => {
  const keys = fc.uniqueArray(fc.constantFrom<string>("a", "b", "c", "d"), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(
      fc.array(keys, { maxLength: 20 }),
      fc.uniqueArray(fc.constantFrom<string>("a", "b", "c")),
      (rows, barriers) => {
        const waiting = rows.map((list, i) => ({ deferredId: String(i), scopes: list.map(scope) }));
        const links = linksOfNewBarriers(
          barriers.map((key) => ({ barrierId: `B${key}`, scope: scope(key) })),
          waiting,
        );
        const of = (i: number) => links.filter((link) => link.deferredId === String(i)).map((link) => link.barrierId);
        rows.forEach((list, later) => {
          for (const key of list) if (barriers.includes(key)) expect(of(later)).toContain(`B${key}`);
          for (let earlier = 0; earlier < later; earlier++) {
            const shared = (rows[earlier] as string[]).some((key) => list.includes(key));
            if (shared) expect(of(later)).toEqual(expect.arrayContaining(of(earlier)));
          }
        });
      },
    ),
  );
});
