/** Development: from a change of a source to the first response of the new code, for `samples/hello` under `stagecraft dev`. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { develop } from "../../../lib/cli/dev/develop.js";
import { freePort } from "../../support/free-port.js";
import { ROOT } from "./places.js";
import { markdownTable, median } from "./table.js";

const CHANGES = 20;
const SETTINGS = JSON.stringify({
  extends: "../../tsconfig.json",
  compilerOptions: { rootDir: "src", outDir: "out", declaration: false },
  include: ["src"],
});

/** Inside the package, where the application finds the framework. */
async function runDev(): Promise<string> {
  const folder = mkdtempSync(join(ROOT, "dist/bench-dev-"));
  const stopped = new AbortController();
  try {
    mkdirSync(join(folder, "src"));
    writeFileSync(join(folder, "tsconfig.json"), SETTINGS);
    const main = join(folder, "src/main.ts");
    writeFileSync(main, readSample("main.ts").replace('installLogging("info")', 'installLogging("off")'));
    const write = (change: number): void =>
      writeFileSync(join(folder, "src/app.ts"), readSample("app.ts").replace("Hello, ", `Hello ${change}, `));
    write(0);
    const port = await freePort();
    const context = { cwd: folder, env: process.env, stderr: { write: () => undefined }, signal: stopped.signal };
    const developing = develop({ main, port, host: "127.0.0.1", frontEnd: undefined }, context);
    await untilServed(port, 0);
    const times: number[] = [];
    for (let change = 1; change <= CHANGES; change += 1) {
      const start = performance.now();
      write(change);
      await untilServed(port, change);
      times.push(performance.now() - start);
    }
    stopped.abort();
    await developing;
    return summary(times);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readSample(name: string): string {
  return readFileSync(join(ROOT, "samples/hello", name), "utf8");
}

function summary(times: readonly number[]): string {
  const row = [median(times), Math.min(...times), Math.max(...times)].map((ms) => ms.toFixed(0));
  return markdownTable(["program", "median ms", "fastest ms", "slowest ms"], [["hello", ...row]]);
}

async function untilServed(port: number, change: number): Promise<void> {
  for (;;) {
    if ((await ask(port)) === `Hello ${change}, Ada!\n`) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function ask(port: number): Promise<string> {
  return new Promise((resolve) => {
    const sent = request({ port, host: "127.0.0.1", path: "/hello/Ada", agent: false }, (response) =>
      resolve(text(response)),
    );
    sent.on("error", () => resolve(""));
    sent.end();
  });
}

export const DEV = {
  name: "dev",
  what: "from a change of a source to the first response of the new code",
  run: runDev,
};
