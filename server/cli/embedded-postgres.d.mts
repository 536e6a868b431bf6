import type { Guard } from "./supervisor/end-with-parent.mjs";

export type EmbeddedPostgres = {
  readonly pid: number;
  readonly port: number;
  readonly home: string;
  /** True when the server was already running. */
  readonly reused: boolean;
  readonly exited: Promise<unknown>;
  url(database: string): string;
  stop(): Promise<void>;
};
export declare class EmbeddedPostgresError extends Error {}
export declare function startEmbeddedPostgres(options: {
  home: string;
  throwaway?: boolean;
  port?: number;
  guard?: Guard;
}): Promise<EmbeddedPostgres>;
