import { expect, test } from "vitest";
import { ERRORS } from "@/server/contracts/errors";
import { asProblem, parseProblem } from "./problem";

test("every code of the catalog is shown by its own sentence", () => {
  for (const [code, spec] of Object.entries(ERRORS)) {
    expect(parseProblem({ code, retryable: spec.retryable }, "r").message).toBe(spec.sentence);
  }
});

test("text that comes with an answer never becomes text of the page", () => {
  const foreign = "<img src=x onerror=alert(1)>";
  for (const body of [foreign, { code: foreign }, { code: "toString", detail: foreign }, { title: foreign }, null]) {
    const problem = parseProblem(body, undefined);
    expect(problem.code).toBe("UNREADABLE");
    expect(problem.message).not.toContain("img");
  }
  expect(asProblem(new TypeError(foreign)).message).not.toContain("img");
});
