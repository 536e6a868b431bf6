import fs from "node:fs";

/** Removes the data folder of the run; the server that used it writes no more once the browser tests are over. */
export default function removeData(): void {
  if (process.env.E2E_DATA && process.env.KEEP_TEST_DB !== "1") {
    fs.rmSync(process.env.E2E_DATA, { recursive: true, force: true, maxRetries: 5 });
  }
}
