/**
 * Vite's development server for the front end of a sample, on a socket of the file system (a named pipe on Windows). The application gets
 * its path as `FRAMEWORK_VITE_IPC`. It also renders pages on the server, with the newest sources: the application sends the page object to
 * `/__inertia_ssr`.
 *
 * @example
 * const vite = await ViteServer.start(frontEnd);
 * spawn("node", ["main.js"], { env: { ...process.env, FRAMEWORK_VITE_IPC: vite.endpoint } });
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import type { InlineConfig, ViteDevServer } from "vite";

/** The front end of a sample. */
export interface FrontEnd {
  readonly config: InlineConfig;
  /** The module that exports `render`, from Vite's root. */
  readonly serverEntry: string;
  /** The stylesheet of every page, from Vite's root: a page that the server renders has its styles before the scripts run. */
  readonly stylesheet: string;
}

interface Rendered {
  readonly head: readonly string[];
  readonly body: string;
}

export class ViteServer {
  /** One page at a time: renders share the variables of their modules. */
  private turn: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly endpoint: string,
    private readonly frontEnd: FrontEnd,
    private readonly vite: ViteDevServer,
    private readonly server: Server,
    private readonly directory: string,
  ) {
    server.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => {
      if (incoming.url === "/__inertia_ssr" && incoming.method === "POST") this.render(incoming, outgoing);
      else vite.middlewares(incoming, outgoing);
    });
  }

  static async start(frontEnd: FrontEnd): Promise<ViteServer> {
    // Imported here, because a sample without a front end does not need it.
    const { createServer } = await import("vite");
    const server = createHttpServer();
    const vite = await createServer({
      ...frontEnd.config,
      appType: "custom",
      server: { middlewareMode: true, ws: { server } },
    });
    const directory = mkdtempSync(join(tmpdir(), "vite-"));
    const endpoint = process.platform === "win32" ? `\\\\.\\pipe\\vite-${process.pid}` : join(directory, "vite.sock");
    server.listen(endpoint);
    await once(server, "listening");
    return new ViteServer(endpoint, frontEnd, vite, server, directory);
  }

  async close(): Promise<void> {
    await this.vite.close();
    this.server.close();
    this.server.closeAllConnections();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private render(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.turn = this.turn
      .then(async () => this.rendered(await json(incoming)))
      .then(
        (result) => outgoing.setHeader("Content-Type", "application/json").end(JSON.stringify(result)),
        (error: Error) => outgoing.writeHead(500, { "Content-Type": "text/plain" }).end(error.stack),
      );
  }

  private async rendered(page: unknown): Promise<Rendered> {
    const { config, serverEntry, stylesheet } = this.frontEnd;
    const { render } = (await this.vite.ssrLoadModule(`/${serverEntry}`)) as {
      readonly render: (page: unknown) => Promise<Rendered>;
    };
    const { head, body } = await render(page);
    // Vite's client takes the link over by this name.
    const id = join(config.root ?? "", stylesheet).replaceAll("\\", "/");
    return { head: [...head, `<link rel="stylesheet" href="/${stylesheet}" data-vite-dev-id="${id}">`], body };
  }
}
