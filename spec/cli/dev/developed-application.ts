/**
 * An application under the development server, in a folder that a test may edit. By default a small server of Node, which starts in a
 * fraction of the time of the framework: it reports that it is ready as `run()` does.
 *
 * @example
 * await using developed = await DevelopedApplication.start(server("1"));
 * developed.write(server("2"));
 * await until(async () => (await developed.ask()) === "2");
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadEnvironmentFile } from "../../../lib/cli/application/environment-file.js";
import { develop } from "../../../lib/cli/dev/develop.js";
import { freePort } from "../../support/free-port.js";
import { ROOT } from "../../support/sources.js";
import { until } from "../../support/until.js";

export const SETTINGS = JSON.stringify({
  extends: "../../tsconfig.json",
  compilerOptions: { rootDir: "src", outDir: "out", types: ["node"], declaration: false },
  include: ["src"],
});

/** Responds with its version, with its process at `/pid`, and at `/slow` when it ends; a WebSocket gets what it has sent. */
export function server(version: string, atStart = ""): string {
  return `
import { writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
const version: string = ${JSON.stringify(version)};
writeFileSync(\`processes/\${process.pid}\`, version);
const slow: ServerResponse[] = [];
const server = createServer((request, response) => {
  if (request.url === "/slow") slow.push(response);
  else if (request.url === "/crash") process.kill(process.pid, "SIGKILL");
  else response.end(request.url === "/pid" ? String(process.pid) : version);
});
server.on("upgrade", (_request, socket) => void socket.end("HTTP/1.1 101 Switching Protocols\\r\\n\\r\\nupgraded by " + version));
${atStart}
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object") process.send?.({ ready: \`http://127.0.0.1:\${address?.port}\` });
});
process.stdin.once("end", () => {
  server.close();
  for (const response of slow) response.end("finished by " + version);
}).resume();
`;
}

/** Inside the package, where the application finds the framework. */
export function createFolder(program: string): string {
  const folder = mkdtempSync(join(ROOT, "dist/developed-"));
  for (const name of ["src", "processes"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "tsconfig.json"), SETTINGS);
  writeFileSync(join(folder, "src/main.ts"), program);
  return folder;
}

/** The processes of the application that run. */
export function listProcesses(folder: string): readonly number[] {
  return readdirSync(join(folder, "processes")).map(Number).filter(isRunning);
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export class DevelopedApplication implements AsyncDisposable {
  output = "";
  private readonly stopped = new AbortController();
  private running: Promise<void> = Promise.resolve();

  private constructor(
    readonly folder: string,
    readonly port: number,
  ) {}

  /** @param environment of the application, beside that of this process */
  static async start(program: string, environment: NodeJS.ProcessEnv = {}): Promise<DevelopedApplication> {
    const developed = new DevelopedApplication(createFolder(program), await freePort());
    developed.running = develop(
      {
        main: join(developed.folder, "src/main.ts"),
        port: developed.port,
        host: "127.0.0.1",
        frontEnd: undefined,
        readEnvironment: () => {
          const env = { ...process.env, ...environment };
          loadEnvironmentFile(developed.folder, env);
          return env;
        },
      },
      {
        cwd: developed.folder,
        env: { ...process.env, ...environment },
        stderr: { write: (text) => (developed.output += text) },
        signal: developed.stopped.signal,
      },
    );
    await until(() => developed.output !== "");
    return developed;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Replaces a file below `src`, as most editors do. */
  write(text: string, name = "main.ts"): void {
    this.replace(join("src", name), text);
  }

  replace(path: string, text: string): void {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.next`, text);
    renameSync(`${file}.next`, file);
  }

  async ask(path = "/", headers: Record<string, string> = {}): Promise<string> {
    return (await fetch(`${this.url}${path}`, { headers })).text();
  }

  async serves(text: string): Promise<void> {
    await until(
      async () => (await this.ask()) === text,
      () => this.output,
    );
  }

  async says(text: string): Promise<void> {
    await until(
      () => this.output.includes(text),
      () => this.output,
    );
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    if (existsSync(this.folder)) rmSync(this.folder, { recursive: true });
  }
}
