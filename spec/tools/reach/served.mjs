/** Starts a program as a process, makes the requests of `asks.mjs`, and ends it with SIGTERM during a request. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { faultsOf, HEADERS } from "./asks.mjs";

/** The address in the log, as text or as JSON: a bundler may fix `NODE_ENV`, so that the program is a release build. */
const LISTENING = /(?<=\bat"?[=:]"?)http:[^\s"]+(?=[\s"])/;

/** Rejects with the output of the program if it does not start, and with each fault if it starts. */
export async function served(cwd, command, ...args) {
  await whileServing(cwd, [command, ...args], async (child, url) => {
    const faults = await faultsOf(url);
    return [...faults, ...(await child.drain(url))];
  });
}

/** The same for a program that has one response. */
export async function responds(cwd, path, expected, command, ...args) {
  await whileServing(cwd, [command, ...args], async (child, url) => {
    const body = await (await fetch(url + path)).text();
    await child.stop();
    return body === expected ? [] : [`GET ${path}: ${body}`];
  });
}

async function whileServing(cwd, [command, ...args], findFaults) {
  const child = new Served(spawn(command, args, { cwd, env: { ...process.env, PORT: "0", NO_COLOR: "1" } }));
  try {
    const url = await child.says(LISTENING);
    const faults = await findFaults(child, url).catch(({ message }) => [message]);
    if (faults.length > 0) throw Object.assign(new Error(faults.join("\n")), { started: true });
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

  /** The program has begun to read the body when it asks for the rest of it. */
  async drain(url) {
    const note = '{"text":"eggs"}';
    const headers = { ...HEADERS, Expect: "100-continue", "Content-Length": note.length };
    const sent = request(`${url}/notes`, { method: "POST", headers });
    sent.flushHeaders();
    const responded = once(sent, "response");
    // The process is killed if it does not drain.
    responded.catch(() => {});
    await Promise.race([once(sent, "continue"), responded]);
    this.#child.kill("SIGTERM");
    await this.says(/draining in_flight=1|"in_flight":1\},.*"draining"/);
    sent.end(note);
    const [response] = await responded;
    const body = await text(response);
    const [code] = await this.#ended;
    return [
      ...(body === '{"id":11,"text":"eggs"}' ? [] : [`the request during SIGTERM: ${body}`]),
      ...(/note added id=11|"id":11\b.*"note added"/.test(this.#output) ? [] : ["the listener wrote no line"]),
      ...(code === 0 ? [] : [`the exit code after SIGTERM: ${code}`]),
    ];
  }

  /** A signal that the program cannot catch would leave the processes that a runner has started. */
  async stop() {
    this.#child.kill("SIGTERM");
    await this.#ended;
  }

  kill() {
    this.#child.kill("SIGKILL");
  }
}
