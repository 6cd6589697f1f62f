/**
 * `npm run inertia -- <checkout> [spec files of the suite]`: Inertia's own browser tests against the framework. The checkout is one of
 * inertiajs/inertia, with its packages and `packages/react/test-app` built. Writes nothing into the repository.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { once } from "node:events";
import { locate } from "../../../support/machine.js";
import { ROOT } from "../../../support/sources.js";

const URL_OF_BRIDGE = "http://localhost:13716";
/** The suite's own limit is 5 s a test; slow machines need more. */
const LIMIT_MS = 15_000;

function configuration(browser: string): string {
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"];
  return `import { defineConfig, devices } from "@playwright/test";
export default defineConfig({
  testDir: "./tests",
  // Server rendering and Vite's plugin belong to the suite's own server.
  testIgnore: ["ssr.spec.ts", "vite-plugin.spec.ts"],
  fullyParallel: true,
  timeout: ${LIMIT_MS},
  use: { baseURL: "${URL_OF_BRIDGE}", launchOptions: ${JSON.stringify({ executablePath: browser, args })} },
  projects: [{ name: "chromium", use: { ...devices["Desktop Chrome"] } }],
});
`;
}

async function untilServed(): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const isUp = await fetch(URL_OF_BRIDGE).then(
      () => true,
      () => false,
    );
    if (isUp) return;
    await new Promise((next) => setTimeout(next, 100));
  }
  throw new Error("the bridge does not respond");
}

async function run(checkout: string, files: readonly string[]): Promise<number> {
  const browser = locate("chromium");
  if (browser === undefined) throw new Error("install chromium");
  const config = join(checkout, "bridge.config.mjs");
  writeFileSync(config, configuration(browser));
  const env = { ...process.env, PACKAGE: "react" };
  const bridge = spawn(process.execPath, [join(ROOT, "dist/spec/tools/judges/inertia/bridge.js"), checkout], {
    stdio: "inherit",
    env,
  });
  try {
    await untilServed();
    const tests = spawn("npx", ["playwright", "test", "-c", config, ...files], {
      cwd: checkout,
      stdio: "inherit",
      env,
    });
    const [code] = (await once(tests, "exit")) as [number | null];
    return code ?? 1;
  } finally {
    bridge.kill("SIGKILL");
  }
}

const [checkout, ...files] = process.argv.slice(2);
if (checkout === undefined) throw new Error("give the folder of a checkout of inertiajs/inertia");
process.exitCode = await run(resolve(checkout), files);
