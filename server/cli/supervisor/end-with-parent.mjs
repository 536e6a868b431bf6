import { spawn } from "node:child_process";

// Reads lines "SIGNAL:PID …" (the processes alive now). When the writer is gone, however it ended, it signals the last list,
// waits eight seconds, kills the rest, and removes the folder given as $1. A shell, because it must cost next to nothing and
// must survive whatever ends Node; in its own session, so that a signal to the terminal's group doesn't reach it.
const WATCHER = `
list=""
while IFS= read -r line; do list="$line"; done
for entry in $list; do kill -"\${entry%%:*}" "\${entry##*:}" 2>/dev/null; done
n=0
while [ $n -lt 80 ]; do
  alive=""
  for entry in $list; do kill -0 "\${entry##*:}" 2>/dev/null && alive=1; done
  [ -z "$alive" ] && break
  sleep 0.1; n=$((n+1))
done
for entry in $list; do kill -KILL "\${entry##*:}" 2>/dev/null; done
[ -n "$1" ] && rm -rf -- "$1"
exit 0
`;

/**
 * Ends processes when this process ends, also by SIGKILL.
 * @param {{ removeFolder?: string }} [options] a folder to remove at that moment (throw-away servers)
 * @returns {import("./end-with-parent.d.mts").Guard}
 */
export function endWithParent(options = {}) {
  const watcher = spawn("/bin/sh", ["-c", WATCHER, "event-admin-watcher", options.removeFolder ?? ""], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watcher.on("error", () => undefined);
  watcher.stdin.on("error", () => undefined);
  watcher.unref();
  watcher.stdin.unref?.();
  const guarded = new Map();
  const tell = () => watcher.stdin.write(`${[...guarded].map(([pid, signal]) => `${signal}:${pid}`).join(" ")}\n`);
  return {
    pid: watcher.pid,
    add(pid, signal) {
      guarded.set(pid, signal);
      tell();
    },
    remove(pid) {
      if (guarded.delete(pid)) tell();
    },
    addChild(child, signal) {
      if (child.pid === undefined) return;
      this.add(child.pid, signal);
      child.once("exit", () => this.remove(child.pid));
    },
  };
}
