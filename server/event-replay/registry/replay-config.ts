import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";

/** The whole file; an unknown member makes it unreadable rather than silently ignored. */
const file = z.strictObject({
  enabled: z.boolean().default(true),
  excludedEventTypes: z.array(z.string().min(1).max(255)).max(1_000).default([]),
});

export type ReplayConfig = {
  /** Gates the execute transition and the claim, nothing else (reference §7). */
  readonly enabled: boolean;
  readonly excludedEventTypes: readonly string[];
};

const DEFAULTS: ReplayConfig = { enabled: true, excludedEventTypes: [] };

/**
 * `event-replay.yml`, read at every access so that a change needs no restart; a directory mount may replace it at any time.
 * Missing = enabled. A file that can't be read or has another shape pauses execution: whoever wrote it meant something, and
 * only a pause is safe under every meaning.
 */
export function readReplayConfig(path: string = process.env.EVENT_REPLAY_CONFIG || "event-replay.yml"): ReplayConfig {
  let text: string;
  try {
    text = readFileSync(/* turbopackIgnore: true */ path, "utf8");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? DEFAULTS : { ...DEFAULTS, enabled: false };
  }
  try {
    const parsed = file.safeParse(parse(text) ?? {});
    return parsed.success ? parsed.data : { ...DEFAULTS, enabled: false };
  } catch {
    return { ...DEFAULTS, enabled: false };
  }
}
