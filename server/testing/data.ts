import fs from "node:fs";
import path from "node:path";

const FOLDER = path.resolve(import.meta.dirname, "../../../shared/data");

export type PortalEventFile = { readonly name: string; readonly path: string; readonly lines: readonly string[] };

/**
 * The real portal events that lie beside a development checkout, oldest file first, one CloudEvent a line. Throws when they
 * aren't there: a test that silently checks nothing would be worse.
 */
export function readPortalEventFiles(): readonly PortalEventFile[] {
  const folder = path.join(FOLDER, "portal-events");
  const names = fs.existsSync(folder)
    ? fs
        .readdirSync(folder)
        .filter((name) => name.endsWith(".ndjson"))
        .sort()
    : [];
  if (names.length === 0) {
    throw new Error(`real portal events not found: this test expects ${folder}/*.ndjson beside the checkout`);
  }
  return names.map((name) => {
    const file = path.join(folder, name);
    const lines = fs
      .readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "");
    return { name, path: file, lines };
  });
}

/** Absolute path of a file of that folder (aggregates.tsv …). Throws when it isn't there. */
export function sharedDataFile(name: string): string {
  const file = path.join(FOLDER, name);
  if (!fs.existsSync(file)) throw new Error(`real data not found: this test expects ${file}`);
  return file;
}
