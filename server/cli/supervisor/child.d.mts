import type { Guard } from "./end-with-parent.mjs";

export type SupervisedChild = {
  readonly pid: number | null;
  readonly crashes: number;
  stop(graceMs: number): Promise<void>;
};
export declare function superviseChild(options: {
  name: string;
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  logFile: string | null;
  guard: Guard;
  say: (text: string) => void;
}): SupervisedChild;
export declare function logTail(file: string, lines?: number): string;
