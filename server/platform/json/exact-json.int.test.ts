import fc from "fast-check";
import { expect, test } from "vitest";
import { testDatabase } from "@/server/testing/database";
import { jsonSample } from "@/server/testing/json-arbitrary";
import { canonicalText } from "./canonical-json";
import { isWithinNumeric, type JsonNode, parseExactJson } from "./exact-json";

const db = testDatabase();

/** Numbers around every edge of numeric: many digits on either side, and exponents that move them. */
const edgeNumber = fc
  .record({
    sign: fc.constantFrom("", "-"),
    whole: fc.constantFrom(
      "0",
      "1",
      "9",
      "12345",
      `1${"0".repeat(131_070)}`,
      "9".repeat(131_072),
      `1${"0".repeat(131_072)}`,
    ),
    fraction: fc.constantFrom("", ".0", ".5", ".001", `.${"0".repeat(16_382)}1`, `.${"1".repeat(16_384)}`),
    exponent: fc.constantFrom(
      "",
      "e0",
      "E+1",
      "e-1",
      "e131066",
      "e131071",
      "e131072",
      "e-16382",
      "e-16383",
      "e-16384",
      "e1073741823",
    ),
  })
  .map(({ sign, whole, fraction, exponent }) => sign + whole + fraction + exponent);

test("ER-APP-10 the exact parser refuses the numbers PostgreSQL's numeric does, and exponents of a billion in every version", async () => {
  await fc.assert(
    fc.asyncProperty(edgeNumber, async (lexeme) => {
      const accepted = await db.pool.query("SELECT $1::numeric IS NOT NULL", [lexeme]).then(
        () => true,
        () => false,
      );
      // Versions differ on zero with such an exponent; one that any of them refuses is refused.
      const hugeExponent = lexeme.endsWith("e1073741823");
      expect(isWithinNumeric(lexeme)).toBe(accepted && !hugeExponent);
    }),
    { numRuns: 150 },
  );
});

test("ER-APP-10 whatever the exact parser accepts, jsonb stores, with every member and the same values", async () => {
  await fc.assert(
    fc.asyncProperty(jsonSample, async ({ text }) => {
      const parsed = parseExactJson(text);
      if (!parsed.ok) throw new Error(parsed.rule);
      const stored = await db.pool.query("SELECT $1::jsonb::text AS stored, $1::jsonb = $2::jsonb AS same", [
        canonicalText(parsed.value),
        text,
      ]);
      expect(stored.rows[0].same).toBe(true);
      const again = parseExactJson(stored.rows[0].stored);
      expect(again.ok && memberCount(again.value)).toBe(memberCount(parsed.value));
    }),
    { numRuns: 150 },
  );
});

function memberCount(node: JsonNode): number {
  if (node.kind === "array") return node.items.reduce((sum, item) => sum + memberCount(item), 0);
  if (node.kind !== "object") return 0;
  return node.members.reduce((sum, { value }) => sum + 1 + memberCount(value), 0);
}
