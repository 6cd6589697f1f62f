/**
 * Runs an application as its own process on a free port, asks it once over HTTP, and ends it with SIGTERM.
 * Usage: node ask.mjs <program> <path> <expected body>
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const [program, path, expected] = process.argv.slice(2);
const child = spawn(process.execPath, [program], {
  env: { ...process.env, PORT: "0" },
  stdio: ["ignore", "inherit", "pipe"],
});
const ended = once(child, "exit");
const deadline = setTimeout(() => child.kill("SIGKILL"), 30_000);

async function listening() {
  for await (const line of createInterface({ input: child.stderr })) {
    console.log(line);
    const [at] = /http:\/\/[^\s")]+/.exec(line) ?? [];
    if (at !== undefined) return at;
  }
  throw new Error(`${program} ended before it listened`);
}

const response = await fetch((await listening()) + path);
assert.equal(response.status, 200);
assert.equal(await response.text(), expected);

child.kill("SIGTERM");
const [code] = await ended;
clearTimeout(deadline);
assert.equal(code, 0, `${program} ended with ${code} after SIGTERM`);
console.log(`${program} served ${path} and ended on SIGTERM`);
