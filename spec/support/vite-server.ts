/** Vite's development server on a socket of the file system, for a copy of the front end of the specs that a test may edit. */
import { cp, mkdtemp, rm } from "node:fs/promises";
import { createServer as createHttpServer, type Server } from "node:http";
import { join } from "node:path";
import type { ViteDevServer } from "vite";
import { SOURCES } from "./front-end.js";
import { listeningOn } from "./listening-on.js";
import { ROOT } from "./sources.js";

const DEPENDENCIES = ["react", "react/jsx-dev-runtime", "react-dom/client", "@inertiajs/react"];

export class ViteServer implements AsyncDisposable {
  private constructor(
    private readonly directory: string,
    private readonly vite: ViteDevServer,
    private readonly server: Server,
  ) {}

  /** @param base the path below which Vite serves the sources; it starts and ends with a slash */
  static async start(base = "/"): Promise<ViteServer> {
    // Inside the package, where the copy finds its dependencies.
    const directory = await mkdtemp(join(ROOT, "dist/vite-"));
    await cp(SOURCES, join(directory, "sources"), { recursive: true });
    const [{ createServer }, { default: react }] = await Promise.all([import("vite"), import("@vitejs/plugin-react")]);
    const server = createHttpServer();
    const vite = await createServer({
      configFile: false,
      root: join(directory, "sources"),
      base,
      cacheDir: join(directory, "cache"),
      plugins: [react()],
      logLevel: "error",
      appType: "custom",
      optimizeDeps: { include: DEPENDENCIES },
      server: { middlewareMode: true, ws: { server } },
    });
    server.on("request", vite.middlewares);
    const endpoint = join(directory, "vite.sock");
    await listeningOn(server, endpoint);
    return new ViteServer(directory, vite, server);
  }

  get endpoint(): string {
    return join(this.directory, "vite.sock");
  }

  /** The file of a source that a test may edit. */
  pathOf(source: string): string {
    return join(this.directory, "sources", source);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.vite.close();
    this.server.close();
    this.server.closeAllConnections();
    await rm(this.directory, { recursive: true, force: true });
  }
}
