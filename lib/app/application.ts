/**
 * A built application. It can control the process (`run`), serve on a listener that exists already (`serve`), or give a request listener to
 * a server of the caller (`callback`). An application runs or serves only once; `callback` may be called any number of times.
 *
 * @example
 * await Application.create(ShopModule).build().run();
 */
import type { RequestListener, Server } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { AddressInfo, Server as NetServer } from "node:net";
import type { InjectionToken } from "../di/token.js";
import type { Class } from "../runtime/class.js";
import type { StageRow } from "../pipeline/pipeline.js";
import type { Slot } from "../pipeline/table.js";
import type { Subsystem } from "../lifecycle/subsystem.js";
import type { Routes } from "../routing/routes.js";
import type { ApplicationParts } from "./build.js";
import { ApplicationBuilder } from "./builder.js";
import type { ApplicationCommand } from "../commands/command.js";
import type { AppConfig } from "./config.js";
import { Listener } from "../server/listener.js";
import { RequestHandler } from "../server/request-handler.js";
import type { ApplicationGraph } from "./graph/graph.js";
import type { WorkersOptions } from "./workers/workers-options.js";
import { takeAskedWorkers } from "./workers/asked-workers.js";
import { runProcess, workOnce, workProcess, type WorkingHook } from "./run.js";
import { ApplicationRun, getListenerUrl, type StopResult } from "./application-run.js";
import { createSetupError } from "../errors/setup-error.js";
import { nodeEnv } from "../runtime/profile.js";

/** An application that serves requests. */
export interface RunningApplication {
  readonly url: string;
  readonly address: AddressInfo | string | null;
  /** Drains and stops; a second call waits for the first. */
  stop(): Promise<void>;
}

/** The result of `start()`, for the test kit. @internal */
export interface StartedApplication extends RunningApplication {
  stopWithin(deadlineMs: number): Promise<StopResult>;
}

export class Application {
  private usedBy: string | undefined;

  /** Creates a builder. Without a root module the application has only the routes that `.routes()` adds. */
  static create(root?: Class): ApplicationBuilder {
    return new ApplicationBuilder(root, (parts) => new Application(parts));
  }

  private constructor(private readonly parts: ApplicationParts) {}

  /**
   * Serves until SIGTERM or SIGINT, then drains and stops. Resolves when the stop is complete. `process.exitCode` is 1 if
   * connections had to be destroyed, a subsystem failed to stop, or a hook did not end in time. In these cases the process exits.
   * `stagecraft start --workers` runs {@link Application.runWorkers} instead.
   *
   * @throws FrameworkError `E_LISTEN` if it cannot listen on the address, `E_APPLICATION_USED` if the application ran or served before
   * @throws StartupError if a subsystem does not start
   */
  async run(): Promise<void> {
    this.markUsed("run()");
    const workers = takeAskedWorkers();
    if (workers === undefined) await runProcess(this.parts);
    else await this.serveByWorkers({ workers });
  }

  /**
   * Serves as `run()` does, with several processes behind one port. The program runs once as the parent, which owns the port, and once in each
   * worker, which serves. SIGTERM stops all workers within one deadline, SIGHUP to the parent replaces them one by one without a refused
   * request, and a worker that dies is replaced. Everything in memory exists once in each worker.
   *
   * @throws FrameworkError `E_WORKERS_COUNT` for another number, `E_WORKERS_START` if the first workers do not start, `E_WORKERS_RESTARTS` if
   * too many workers end, and the errors of `run()`
   */
  async runWorkers(options: WorkersOptions): Promise<void> {
    this.markUsed("runWorkers()");
    await this.serveByWorkers({ ...options, workers: takeAskedWorkers() ?? options.workers });
  }

  /**
   * Works until SIGTERM or SIGINT without listening: starts the subsystems, runs the jobs and schedules, and stops them as `run()` does.
   * `process.exitCode` is 1 if a subsystem failed to stop.
   *
   * @throws FrameworkError `E_APPLICATION_USED` as `run()`
   * @throws StartupError if a subsystem does not start
   */
  async work(): Promise<void> {
    this.markUsed("work()");
    await workProcess(this.parts);
  }

  /** Like `work()`, for the command. @internal */
  async workUntil(working: WorkingHook): Promise<void> {
    this.markUsed("work()");
    await workProcess(this.parts, working);
  }

  /**
   * Serves on a listener that listens already, with TLS if it is an `https.Server` or `tls.Server`. Does not start the subsystems and
   * does not listen for signals.
   *
   * @throws FrameworkError `E_SERVER_TAKEN` if the server has a request listener, `E_SERVER_HTTP2` if it is an HTTP/2 server,
   * `E_APPLICATION_USED` as `run()`
   */
  async serve(listener: NetServer | Server | HttpsServer): Promise<RunningApplication> {
    this.markUsed("serve()");
    const { koa, attachments } = this.parts;
    const run = new ApplicationRun(this.parts, Listener.fromExisting(listener, new RequestHandler(koa.callback())));
    await run.open(attachments);
    return toRunning(this.parts, run);
  }

  /**
   * A request listener for a server of the caller. The server may have TLS. It may be an HTTP/2 server; a drain does not close the
   * connections of that one.
   *
   * Without `run()` or `serve()` the application serves all requests, and its health endpoints report `booting`. Beside them it is the
   * same application: it refuses requests while it starts, and its responses close their connections from the start of the drain. The
   * caller must close the server; requests that it accepts after the drain find stopped subsystems.
   *
   * Register the listener for `checkContinue` too. Otherwise Node sends `100 Continue` before the framework can refuse a body.
   */
  callback(): RequestListener {
    return new RequestHandler(this.parts.koa.callback()).createListener();
  }

  /** All routes: those of the modules and those of `.routes()`. */
  routes(): Routes {
    return this.parts.routes;
  }

  /** The configuration of the container. */
  config(): AppConfig {
    return this.parts.config;
  }

  /** All stages in their order. Each row says whether its stage is on. */
  pipeline(): readonly StageRow[] {
    return this.parts.pipeline.describe();
  }

  /** Whether visitors who read pages get errors as pages, for the API document. @internal */
  get hasErrorPages(): boolean {
    return this.parts.hasErrorPages;
  }

  /** For the command. @internal */
  get subsystems(): readonly Subsystem[] {
    return this.parts.subsystems.members.map(({ subsystem }) => subsystem);
  }

  /** For the command. @internal */
  get commands(): readonly ApplicationCommand[] {
    return this.parts.commands;
  }

  /** For the command: see `workOnce`. @internal */
  async workOnce(work: () => unknown, signal: AbortSignal): Promise<number> {
    this.markUsed("a command");
    return workOnce(this.parts, work, signal);
  }

  /** The layers of a slot, for the test kit. @internal */
  layersAt(slot: Slot): readonly unknown[] {
    return this.parts.pipeline.getLayers(slot);
  }

  /** The instance that a class of the root module would inject. */
  resolve<T>(token: InjectionToken<T>): T {
    return this.parts.container.get(token);
  }

  /**
   * Modules, routes with the shapes of their contracts, and stages as data. The same application gives the same data: it has no times and no
   * absolute paths. The first call computes it.
   */
  graph(): ApplicationGraph {
    return this.parts.graph();
  }

  /** For the test kit: listens on a free port, starts the subsystems, does not listen for signals. @internal */
  start(): Promise<StartedApplication> {
    return this.parts.log.run(() => this.startForTest());
  }

  private async startForTest(): Promise<StartedApplication> {
    this.markUsed("start()");
    const { koa, attachments } = this.parts;
    const listener = await Listener.open(
      { host: "127.0.0.1", port: 0 },
      new RequestHandler(koa.callback()),
      attachments,
    );
    const run = new ApplicationRun(this.parts, listener);
    await run.start();
    const stopWithin = (drainDeadlineMs: number) => run.stop({ drainDelayMs: 0, drainDeadlineMs });
    return { ...toRunning(this.parts, run), stopWithin };
  }

  private async serveByWorkers(options: WorkersOptions): Promise<void> {
    // An application without workers does not load it.
    const { runWorkers } = await import("./workers/run-workers.js");
    await runWorkers(this.parts, options);
  }

  /** Called before a listener opens, so that a refused call leaves no listener open. */
  private markUsed(call: string): void {
    if (call !== "start()") refuseUnknownNodeEnv();
    if (this.usedBy !== undefined) {
      const why = `${call} was called on an application that was used by ${this.usedBy}: its subsystems start and stop once; build another`;
      throw createSetupError("E_APPLICATION_USED", why);
    }
    this.usedBy = call;
    this.parts.booting.isBooting = true;
  }
}

const NODE_ENVS = ["development", "test", "production"];

/** A misspelt "production" would be a debug build, whose responses and log lines show details. */
function refuseUnknownNodeEnv(): void {
  if (nodeEnv === undefined || NODE_ENVS.includes(nodeEnv)) return;
  const what = `NODE_ENV is ${JSON.stringify(nodeEnv)}, which is none of ${NODE_ENVS.join(", ")}: this would be a debug build`;
  const fix = "set NODE_ENV=production for a release build, and a name such as staging in APP_ENV";
  throw createSetupError("E_NODE_ENV", `${what}; fix: ${fix}`);
}

function toRunning(parts: ApplicationParts, run: ApplicationRun): RunningApplication {
  const { listener } = run;
  return {
    url: getListenerUrl(listener),
    address: listener.address,
    stop: async () => void (await run.stop(parts.times)),
  };
}
