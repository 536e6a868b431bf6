import fs from "node:fs";

/**
 * Under `npm start` there are npm and a shell above us. The shell passes no signal on, and npm killed hard can't tell us
 * anything: in both cases our parent, or the shell's, changes. Then `stop` is called.
 * @param {() => void} stop
 */
export function whenLauncherGone(stop) {
  if (!process.env.npm_lifecycle_event) return;
  const launchers = () => `${process.ppid} ${parentOf(process.ppid)}`;
  const before = launchers();
  const timer = setInterval(() => {
    if (launchers() === before) return;
    clearInterval(timer);
    stop();
  }, 500);
  timer.unref();
}

function parentOf(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ")[1];
  } catch {
    return null; // no procfs: the direct parent must do
  }
}
