/**
 * `npm run dev`: the development server, and for this sample a provider of test people beside it. `npm run dev -- notes` runs another sample,
 * and an issuer in the environment takes the place of the test provider.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { develop } from "../../lib/cli/dev/develop.js";
import { SERVER_ENTRY, SOURCES, STYLESHEET } from "./front-end.js";

const sample = process.argv[2] ?? "links";
const main = fileURLToPath(new URL(`../../../samples/${sample}/main.ts`, import.meta.url));
const stopped = new AbortController();

/** The second signal ends at once. */
function stop(): void {
  if (stopped.signal.aborted) process.exit(130);
  stopped.abort();
}

async function startTestProvider(): Promise<void> {
  const { TestProvider } = await import("./test-provider.js");
  const provider = (await TestProvider.start()).unref();
  Object.assign(process.env, provider.variables);
  console.error(`the test provider, at which any name signs in, is ${provider.issuer}`);
}

async function developSample(): Promise<void> {
  if (sample === "links" && process.env["OAUTH_ISSUER"] === undefined) await startTestProvider();
  const configModule = fileURLToPath(new URL("build-front-end.js", import.meta.url));
  const frontEnd = { root: SOURCES, configModule, serverEntry: SERVER_ENTRY, stylesheet: STYLESHEET };
  await develop(
    {
      main,
      root: dirname(main),
      port: Number(process.env["PORT"] ?? process.env["APP_PORT"] ?? 3000),
      host: "127.0.0.1",
      frontEnd: sample === "links" ? frontEnd : undefined,
    },
    { cwd: process.cwd(), env: process.env, stderr: process.stderr, signal: stopped.signal },
  );
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
try {
  if (!existsSync(main)) throw new Error(`there is no sample "${sample}": ${main} does not exist`);
  await developSample();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
