import type { ChildProcess } from "node:child_process";

export type Guard = {
  /** Of the watching shell; undefined when it could not be started. */
  readonly pid: number | undefined;
  add(pid: number, signal: "TERM" | "INT"): void;
  remove(pid: number): void;
  /** Until the child ends. Call it in the same turn as the spawn. */
  addChild(child: ChildProcess, signal: "TERM" | "INT"): void;
};
export declare function endWithParent(options?: { removeFolder?: string }): Guard;
