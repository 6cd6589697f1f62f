/**
 * A built application. It can run as the process (`run`), serve on a listener that exists already (`serve`), or be one request
 * listener among others (`callback`). Each application runs or serves once; request listeners it may give any number of.
 */
import type { RequestListener, Server } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { AddressInfo, Server as NetServer } from "node:net";
import type { Class, InjectionToken } from "../di/token.js";
import { FrameworkError } from "../errors/framework-error.js";
import type { StageRow } from "../pipeline/pipeline.js";
import type { Routes } from "../routing/routes.js";
import type { ApplicationParts } from "./build.js";
import { ApplicationBuilder } from "./builder.js";
import type { AppConfig } from "./config.js";
import { Listener } from "../server/listener.js";
import type { ApplicationGraph } from "./graph.js";
import { runProcess } from "./run.js";
import { Service, urlOf, type Ended } from "./service.js";

/** An application that serves. */
export interface Running {
  readonly url: string;
  readonly address: AddressInfo | string | null;
  /** Drains and stops; a second call waits for the first. */
  stop(): Promise<void>;
}

/** An application that serves a test. @internal */
export interface Started extends Running {
  stopWithin(deadlineMs: number): Promise<Ended>;
}

export class Application {
  private use: string | undefined;

  /** Begins an application; without a module it has only what `.routes()` gives it. */
  static create(root?: Class): ApplicationBuilder {
    return new ApplicationBuilder(root, (assembly) => new Application(assembly));
  }

  private constructor(private readonly parts: ApplicationParts) {}

  /**
   * Serves until SIGTERM or SIGINT, then drains and stops. Resolves when everything has stopped; `process.exitCode` is 1 where
   * connections had to be destroyed or a subsystem failed to stop.
   *
   * @throws FrameworkError `E_LISTEN` where the port cannot be had, `E_APPLICATION_USED` for an application that ran or served before;
   * StartupError where a subsystem does not start.
   */
  async run(): Promise<void> {
    this.claim("run()");
    await runProcess(this.parts);
  }

  /**
   * Serves on a listener that is bound already, with TLS where it is an `https.Server` or `tls.Server`. Subsystems are not started,
   * signals are left alone.
   *
   * @throws FrameworkError `E_SERVER_TAKEN` for a server with a request listener, `E_SERVER_HTTP2` for one of HTTP/2,
   * `E_APPLICATION_USED` as by `run()`.
   */
  async serve(listener: NetServer | Server | HttpsServer): Promise<Running> {
    this.claim("serve()");
    const service = new Service(this.parts, Listener.over(listener, this.parts.entrance));
    await service.open();
    return running(this.parts, service);
  }

  /**
   * For a server of the caller's own, as often as there are servers; it does not count as a use. Alone, the lifecycle stays `booting`
   * for the health endpoints, and other requests are served. Beside `run()` and `serve()` it is the same application: requests are
   * refused while it starts, and their answers close connections from its drain on, but the server is the caller's to close, and what
   * it still takes in after that finds stopped subsystems.
   *
   * The server may have TLS, and may be one of `node:http2`, whose connections no drain closes.
   *
   * To be given for `checkContinue` too: without that the server says `100 Continue` before a body can be refused.
   */
  callback(): RequestListener {
    const { entrance } = this.parts;
    // Where it runs or serves, that says when requests are let in.
    if (this.use === undefined) entrance.setHandler(this.parts.entry("ready"));
    return (incoming, response) => entrance.requestOrContinue(incoming, response);
  }

  routes(): Routes {
    return this.parts.routes;
  }

  config(): AppConfig {
    return this.parts.config;
  }

  /** The table of stages with what this application made of it. */
  pipeline(): readonly StageRow[] {
    return this.parts.pipeline.describe();
  }

  /** An instance of the container, as the root module sees it. */
  resolve<T>(token: InjectionToken<T>): T {
    return this.parts.container.get(token);
  }

  /** Modules, routes and stages as data: the same for the same application, without times or absolute paths. */
  graph(): ApplicationGraph {
    return this.parts.graph;
  }

  /** For the test kit: a port of its own, subsystems as by `run`, no signals. @internal */
  start(): Promise<Started> {
    return this.parts.log.run(() => this.startHere());
  }

  private async startHere(): Promise<Started> {
    this.claim("start()");
    const door = await Listener.open({ host: "127.0.0.1", port: 0 }, this.parts.entrance);
    const service = new Service(this.parts, door);
    await service.start();
    const stopWithin = (drainDeadlineMs: number) => service.stop({ drainDelayMs: 0, drainDeadlineMs });
    return { ...running(this.parts, service), stopWithin };
  }

  /** Before anything is bound or attached: what is refused leaves nothing open. */
  private claim(call: string): void {
    if (this.use !== undefined) {
      const why = `${call} was called on an application that was used by ${this.use}: its subsystems start and stop once; build another`;
      throw new FrameworkError(why, { code: "E_APPLICATION_USED" });
    }
    this.use = call;
  }
}

function running(parts: ApplicationParts, service: Service): Running {
  const { address } = service.door;
  return { url: urlOf(service.door), address, stop: async () => void (await service.stop(parts.times)) };
}
