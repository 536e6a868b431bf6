import { safePgError } from "@/server/platform/db/pg-errors";

/** A refusal of a script: its text is for the person at the terminal. */
export class CliRefusal extends Error {
  constructor(
    message: string,
    readonly exitCode: number = 1,
  ) {
    super(message);
    this.name = "CliRefusal";
  }
}

/**
 * Runs a script to its end: a throw becomes one line on stderr and an exit code other than 0. Of a database error only the
 * SQLSTATE and constraint are shown, since its text may hold row values.
 */
export async function runCli(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    const database = safePgError(error);
    const text = database
      ? `database error ${database.sqlState}${database.constraint ? ` (${database.constraint})` : ""}`
      : error instanceof Error
        ? error.message
        : "unknown error";
    process.stderr.write(`${text}\n`);
    process.exitCode = error instanceof CliRefusal ? error.exitCode : 1;
  }
}

export function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new CliRefusal(`${name} is not set.`);
  return value;
}
