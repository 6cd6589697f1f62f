/**
 * The development server: the port of the browser, the processes of the application behind it, the check of types, and Vite where the
 * application has a front end. It ends with the signal, and takes all processes with it.
 *
 * @example
 * await develop({ main: "/shop/src/main.ts", port: 3000, host: "127.0.0.1", frontEnd: undefined }, context);
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { SourceCompiler } from "../application/compiler.js";
import { SourceProject } from "../application/source-project.js";
import { findOutput } from "../application/typescript-config.js";
import { CommandError, type CommandProcess } from "../command.js";
import { AllowedHosts } from "./allowed-hosts.js";
import { ApplicationProcess } from "./application-process.js";
import { Development } from "./development.js";
import { DevelopmentState } from "./development-state.js";
import { FrontEndProcess, type ViteFrontEnd } from "./front-end.js";
import { FrontPort } from "./front-port.js";
import { SourceWatch } from "./source-watch.js";
import { TypeCheck } from "./type-check.js";

export interface DevelopmentOptions {
  /** The source that runs the application. */
  readonly main: string;
  /** 0 is any free port. */
  readonly port: number;
  readonly host: string;
  /** Further names of this machine, beside `host`, localhost and the name in `APP_URL`. */
  readonly allowedHosts?: readonly string[] | undefined;
  readonly frontEnd: ViteFrontEnd | undefined;
}

type DevelopmentContext = Pick<CommandProcess, "cwd" | "env" | "stderr" | "signal">;

/** @throws CommandError where the port is taken, or the project lacks a setting */
export async function develop(options: DevelopmentOptions, context: DevelopmentContext): Promise<void> {
  const project = SourceProject.of(options.main);
  const folder = mkdtempSync(join(tmpdir(), "stagecraft-"));
  try {
    await new DevelopmentServer(project, folder, options, context).run();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

class DevelopmentServer {
  private readonly state = new DevelopmentState();
  private readonly front: FrontPort;
  private readonly endpoint: string | undefined;

  constructor(
    private readonly project: SourceProject,
    private readonly folder: string,
    private readonly options: DevelopmentOptions,
    private readonly context: DevelopmentContext,
  ) {
    if (options.frontEnd !== undefined) {
      const isWindows = process.platform === "win32";
      this.endpoint = isWindows ? `\\\\.\\pipe\\stagecraft-${process.pid}` : join(folder, "vite.sock");
    }
    const { host, allowedHosts = [] } = options;
    const hosts = new AllowedHosts([host, ...findHost(context.env["APP_URL"]), ...allowedHosts]);
    this.front = new FrontPort(this.state, { vite: this.endpoint, hosts });
  }

  async run(): Promise<void> {
    const { project, options, context } = this;
    const port = await this.listen();
    const url = `http://localhost:${port}`;
    this.print(`${relative(context.cwd, options.main)} at ${url}\n`);
    const types = new TypeCheck({
      file: project.config.file,
      memory: join(this.folder, "types.tsbuildinfo"),
      print: this.print,
    });
    const frontEnd = this.startFrontEnd();
    const development = this.createDevelopment(url);
    const update = (): void => {
      development.update();
      types.start();
    };
    const kill = (): void => {
      development.kill();
      types.stop();
      void frontEnd?.stop();
    };
    process.once("exit", kill);
    const watch = new SourceWatch({
      folders: project.folders,
      isWatched: (path) => project.isWatched(path),
      onChange: update,
    });
    await Promise.race([frontEnd?.settled, aborted(context.signal)]);
    if (!context.signal.aborted) update();
    await aborted(context.signal);
    watch.stop();
    types.stop();
    await Promise.all([development.stop(), frontEnd?.stop()]);
    this.front.close();
    process.off("exit", kill);
  }

  private readonly print = (text: string): void => {
    this.context.stderr.write(text);
  };

  private async listen(): Promise<number> {
    const { port, host } = this.options;
    try {
      return await this.front.listen(port, host);
    } catch (cause) {
      const { code = "" } = cause as NodeJS.ErrnoException;
      throw new CommandError(
        `port ${port} cannot be used: ${code === "EADDRINUSE" ? "another program has it" : code}`,
        {
          fix: `end that program, or choose another port: stagecraft dev --port ${port + 1}`,
          cause,
        },
      );
    }
  }

  private startFrontEnd(): FrontEndProcess | undefined {
    const { frontEnd } = this.options;
    if (frontEnd === undefined || this.endpoint === undefined) return undefined;
    return new FrontEndProcess(frontEnd, { endpoint: this.endpoint, print: this.print });
  }

  private createDevelopment(url: string): Development {
    const { project, context, state, print } = this;
    const env = {
      // Node keeps the compiled code of the packages here, where it can.
      NODE_COMPILE_CACHE: join(context.cwd, "node_modules/.cache/stagecraft"),
      APP_URL: url,
      ...context.env,
      ...(this.endpoint !== undefined && { FRAMEWORK_VITE_IPC: this.endpoint }),
    };
    const program = { file: findOutput(this.options.main), cwd: context.cwd, env, print };
    return new Development({
      compiler: new SourceCompiler(project),
      state,
      start: () => new ApplicationProcess(program),
      print,
      env,
    });
  }
}

function findHost(url = ""): readonly string[] {
  return URL.canParse(url) ? [new URL(url).hostname] : [];
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
