import fs from "node:fs";
import path from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The browser for the end-to-end tests: CHROMIUM, else the first one on the path, else null. Nothing is downloaded. */
export function findChromium() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const folders = [...(process.env.PATH ?? "").split(path.delimiter), "/usr/bin"].filter(Boolean);
  for (const folder of folders) {
    for (const name of NAMES) {
      const file = path.join(folder, name);
      if (fs.existsSync(file)) return file;
    }
  }
  return null;
}
