import fc from "fast-check";
import { expect, test } from "vitest";
import { csvCell, csvFile } from "./csv";

/** Cells of a file as RFC 4180 reads them; written apart from the writer. */
function read(file: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = file.startsWith("\ufeff") ? 1 : 0;
  while (at < file.length) {
    expect(file[at]).toBe('"');
    let cell = "";
    for (at++; ; at++) {
      if (file[at] !== '"') cell += file[at];
      else if (file[at + 1] === '"') cell += file[at++];
      else break;
    }
    at++;
    row.push(cell);
    if (file[at] === ",") at++;
    else {
      expect(file.slice(at, at + 2)).toBe("\r\n");
      at += 2;
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

const FIRST = [
  "=",
  "+",
  "-",
  "@",
  "\t",
  "\r",
  "\n",
  "＝",
  "＋",
  "－",
  "＠",
  "|",
  "%",
  " =",
  "\ufeff=",
  "\t=",
  "\u00a0+",
  "\u0001=",
  "\u202e=",
  "\u00ad@",
  "\u2212",
];

test("ER-APR-17 O22 no exported cell begins with what a spreadsheet runs", () => {
  for (const first of FIRST) {
    const cell = csvCell(`${first}HYPERLINK("https://x","y")`);
    expect(cell.startsWith(`"'${first}`)).toBe(true);
  }
  for (const harmless of ["because", "2026-12-01T00:00:00.000000Z", "a=b", "sha256:00", "", "événement", "x\n=1"]) {
    expect(csvCell(harmless)).toBe(`"${harmless}"`);
  }
});

test("ER-APR-17 O22 quotes, commas and line ends inside a cell stay inside it", () => {
  const cell = fc.string({ unit: fc.constantFrom("a", '"', ",", "\r", "\n", ";", "=", "'", "ü") });
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { maxLength: 6 }), (rows) => {
      const back = read(csvFile(["a", "b", "c"], rows)).slice(1);
      expect(back.map((row) => row.map((text) => text.replace(/^'(?=[=\t\r\n])/, "")))).toEqual(
        rows.map((row) => row.map((text) => text.replace(/^'(?=[=\t\r\n])/, ""))),
      );
    }),
  );
});
