/**
 * `npm run dev`, or `npm run dev -- hello`: runs a sample, compiles after each change of `lib` and `samples`, and restarts the sample when
 * the compilation succeeds. A compilation with errors prints them, and the running process goes on. A sample with pages gets Vite's
 * development server beside it, behind the same port: a changed component appears in the browser without a restart.
 */
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { Compiler, type Compilation } from "./compiler.js";
import { OnePort } from "./one-port.js";
import { RestartedProgram } from "./restarted-program.js";
import { type FrontEnd, ViteServer } from "./vite-server.js";

const ROOT = join(import.meta.dirname, "../../..");
const DEFAULT_PORT = 3000;

async function develop(sample: string): Promise<void> {
  const program = join(ROOT, "dist/samples", sample, "main.js");
  if (!existsSync(program)) {
    console.error(`there is no sample "${sample}": dist/samples/${sample}/main.js does not exist`);
    process.exitCode = 1;
    return;
  }
  const vite = await startVite(sample);
  const application = await freePort();
  const onePort = new OnePort({ application, vite: vite?.endpoint });
  const port = await onePort.listen(Number(process.env["PORT"] ?? process.env["APP_PORT"] ?? DEFAULT_PORT));
  const restarted = new RestartedProgram(program, {
    FRAMEWORK_BACKEND_PORT: String(application),
    APP_URL: process.env["APP_URL"] ?? `http://localhost:${port}`,
    ...(vite !== undefined && { FRAMEWORK_VITE_IPC: vite.endpoint }),
  });
  const compiler = new Compiler(join(ROOT, "samples/dev"), sourceFolders(), report, [
    join(ROOT, "samples", sample, "pages"),
  ]);

  function report({ ok, output }: Compilation): void {
    console.error(ok ? "compiled; restarting" : `${output}the running process stays until the sources compile`);
    if (ok) restarted.restart();
  }

  let isStopping = false;
  /** The first signal drains, the second one ends at once. */
  function stop(): void {
    if (isStopping) restarted.kill();
    isStopping = true;
    compiler.stop();
    void Promise.all([restarted.stop(), vite?.close()]).then(() => onePort.close());
  }

  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
  compiler.start();
  restarted.restart();
  console.error(`open http://localhost:${port}: it leads to ${sample}, which listens on a port of its own`);
  const pages = vite === undefined ? "" : ", and Vite has compiled the sources of the page";
  console.error(`the first page appears when ${sample} has started${pages}: seconds on a slow machine`);
}

function sourceFolders(): readonly string[] {
  return ["lib", "samples"].map((folder) => join(ROOT, folder));
}

/** A sample with a front end says so in `front-end.dev.ts`. */
async function startVite(sample: string): Promise<ViteServer | undefined> {
  const file = join(ROOT, "dist/samples", sample, "front-end.dev.js");
  if (!existsSync(file)) return undefined;
  const { frontEnd } = (await import(file)) as { readonly frontEnd: () => Promise<FrontEnd> };
  return ViteServer.start(await frontEnd());
}

/** For the application, which keeps it over restarts. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

await develop(process.argv[2] ?? "links");
