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
import { toOutput } from "../application/typescript-config.js";
import { CommandError, type CommandProcess } from "../command.js";
import { AllowedHosts } from "./allowed-hosts.js";
import { ApplicationProcess } from "./application-process.js";
import { Development } from "./development.js";
import { CommandListing } from "./command-listing.js";
import { DevelopmentState } from "./development-state.js";
import { FrontEndProcess, listFrontEndFolders, type ViteFrontEnd } from "./front-end.js";
import { FrontPort } from "./front-port.js";
import { SourceWatch } from "./source-watch.js";
import { StartFiles } from "./start-files.js";
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
  /** The folder of package.json, whose list of commands is written; that of the context unless set, without a list. */
  readonly root?: string | undefined;
  /** The environment of each process, which may change; that of the context unless set. */
  readonly readEnvironment?: (() => NodeJS.ProcessEnv) | undefined;
}

/** Folders that programs write, unless they have sources. */
const WRITTEN = /[\\/](?:coverage|data|dist|logs?|public|storage|te?mp|uploads)$/u;

type DevelopmentContext = Pick<CommandProcess, "cwd" | "env" | "stderr" | "signal">;

/** @throws CommandError where the port is taken, or the project lacks a setting */
export async function develop(options: DevelopmentOptions, context: DevelopmentContext): Promise<void> {
  // The process handles signals from here, before there is anything to end.
  const { signal } = context;
  const project = SourceProject.of(options.main);
  const folder = mkdtempSync(join(tmpdir(), "stagecraft-"));
  // A check of types that was killed may write for a moment.
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.once("exit", remove);
  try {
    if (!signal.aborted) await new DevelopmentServer(project, folder, options, context).run();
  } finally {
    process.off("exit", remove);
    remove();
  }
}

class DevelopmentServer {
  private readonly state = new DevelopmentState();
  private readonly front: FrontPort;
  private readonly endpoint: string | undefined;
  private readonly files: StartFiles;
  private readonly compiler = new SourceCompiler();

  constructor(
    private project: SourceProject,
    private readonly folder: string,
    private readonly options: DevelopmentOptions,
    private readonly context: DevelopmentContext,
  ) {
    if (options.frontEnd !== undefined) {
      const isWindows = process.platform === "win32";
      this.endpoint = isWindows ? `\\\\.\\pipe\\stagecraft-${process.pid}` : join(folder, "vite.sock");
    }
    const { host, allowedHosts = [], root = context.cwd } = options;
    const hosts = new AllowedHosts([host, ...findHost(context.env["APP_URL"]), ...allowedHosts]);
    this.front = new FrontPort(this.state, { vite: this.endpoint, hosts });
    this.files = new StartFiles(root);
  }

  async run(): Promise<void> {
    const { options, context } = this;
    const port = await this.listen();
    const url = `http://localhost:${port}`;
    this.print(`${relative(context.cwd, options.main)} at ${url}\n`);
    const types = new TypeCheck({
      file: this.project.config.file,
      memory: join(this.folder, "types.tsbuildinfo"),
      print: this.print,
    });
    const frontEnd = this.startFrontEnd();
    const development = this.createDevelopment(url);
    const { root } = options;
    const listing = root === undefined ? undefined : new CommandListing(root, () => this.readEnvironment(url));
    const kill = (): void => {
      development.kill();
      types.stop();
      listing?.stop();
      void frontEnd?.stop();
    };
    process.once("exit", kill);
    const update = (paths: readonly string[]): void => {
      const changed = paths.filter((path) => this.files.hasChanged(path));
      if (!development.update(changed.length)) return;
      void types.start(development.settled());
      listing?.update(paths, development.settled());
    };
    const watch = this.createWatch(update);
    await Promise.race([frontEnd?.settled, aborted(context.signal)]);
    if (!context.signal.aborted) update([]);
    await aborted(context.signal);
    this.print("stopping; a second Ctrl-C ends at once\n");
    watch.stop();
    types.stop();
    listing?.stop();
    await Promise.all([development.stop(), frontEnd?.stop()]);
    this.front.close();
    process.off("exit", kill);
  }

  /** The folders of the sources come first: there may be too many for all. */
  private createWatch(onChange: (paths: readonly string[]) => void): SourceWatch {
    const { root = this.context.cwd, frontEnd } = this.options;
    const ignored = frontEnd === undefined ? [] : listFrontEndFolders(frontEnd);
    const watch = new SourceWatch({
      isWatched: (folder) => {
        const { project } = this;
        return (
          project.isWatched(folder) && (project.isInside(folder) || !(ignored.includes(folder) || WRITTEN.test(folder)))
        );
      },
      counts: (file) => this.project.hasInput(file) || this.files.has(file),
      onChange: (paths) => {
        onChange(paths);
        watch.add(this.project.folders);
      },
      onLimit: (folder) =>
        this.print(
          `There are too many folders to watch: changes in ${relative(root, folder)} and others are not seen.\n`,
        ),
    });
    watch.add([...this.project.folders, root]);
    return watch;
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

  private readEnvironment(url: string): NodeJS.ProcessEnv {
    const { context, options, endpoint } = this;
    return {
      // Node keeps the compiled code of the packages here, where it can.
      NODE_COMPILE_CACHE: join(context.cwd, "node_modules/.cache/stagecraft"),
      APP_URL: url,
      ...(options.readEnvironment?.() ?? context.env),
      ...(endpoint !== undefined && { FRAMEWORK_VITE_IPC: endpoint }),
    };
  }

  private createDevelopment(url: string): Development {
    const { context, state, print, options } = this;
    return new Development({
      compile: () => {
        this.project = SourceProject.of(options.main);
        return this.compiler.update(this.project);
      },
      state,
      readEnvironment: () => this.readEnvironment(url),
      start: (env) =>
        new ApplicationProcess({ file: toOutput(options.main, this.project.config), cwd: context.cwd, env, print }),
      print,
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
