/** Starts a program as a process, makes the requests of `asks.mjs`, and ends it with SIGTERM during a request. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { faultsOf } from "./asks.mjs";

/** Rejects with the output of the program if it does not start, and with each fault if it starts. */
export async function served(cwd, command, ...args) {
  const child = new Served(spawn(command, args, { cwd, env: { ...process.env, PORT: "0", NO_COLOR: "1" } }));
  try {
    const url = await child.says(/http:\/\/[^\s")]+/);
    const faults = await faultsOf(url);
    faults.push(...(await child.drain(url)));
    if (faults.length > 0) throw new Error(faults.join("\n"));
  } finally {
    child.kill();
  }
}

class Served {
  #output = "";
  #child;
  #ended;

  constructor(child) {
    this.#child = child;
    this.#ended = once(child, "close");
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        this.#output += text;
        child.emit("output");
      });
    }
  }

  /** The first match in the output. */
  async says(pattern) {
    const deadline = AbortSignal.timeout(60_000);
    for (;;) {
      const [found] = pattern.exec(this.#output) ?? [];
      if (found !== undefined) return found;
      if (this.#child.exitCode !== null) throw new Error(this.#output);
      await Promise.race([once(this.#child, "output", { signal: deadline }), this.#ended]);
    }
  }

  async drain(url) {
    const slow = fetch(`${url}/notes/slow`).then((response) => response.text(), String);
    await this.says(/slow request/);
    this.#child.kill("SIGTERM");
    const text = await slow;
    const [code] = await this.#ended;
    return [
      ...(text === '{"state":"finished"}' ? [] : [`the request during SIGTERM: ${text}`]),
      ...(code === 0 ? [] : [`the exit code after SIGTERM: ${code}`]),
    ];
  }

  kill() {
    this.#child.kill("SIGKILL");
  }
}
