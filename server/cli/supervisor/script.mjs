import { spawn } from "node:child_process";
import { StartError } from "./start-error.mjs";

/**
 * Runs one of our TypeScript scripts to its end. Its own words reach the terminal when it fails; `quiet` keeps its normal
 * output out of the way.
 * @param {string} root
 * @param {string[]} args file and arguments
 * @param {{ env: NodeJS.ProcessEnv, failure: string, onChild?: (child: import("node:child_process").ChildProcess) => void }} options
 */
export async function runScript(root, args, { env, failure, onChild }) {
  const child = spawn(process.execPath, ["--import", "tsx", ...args], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onChild?.(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text) => {
      output = (output + text).slice(-8_000);
    });
  }
  const code = await new Promise((resolve, reject) => child.once("close", resolve).once("error", reject));
  if (code !== 0) throw new StartError(`${failure}\n${output.trim()}`);
  return output;
}
