/**
 * The program of the process with Vite's development server: on a socket of the file system (a named pipe on Windows), whose path the
 * application gets as `FRAMEWORK_VITE_IPC`. It also renders pages on the server, with the newest sources: the application sends the page
 * object to `/__inertia_ssr`. The process ends with its standard input.
 */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { nodeHttp } from "../../runtime/node-http.js";
import type { ViteFrontEnd } from "./front-end.js";

/** The part of Vite that is used here. The application has the package, and the framework does not. */
interface Vite {
  readonly createServer: (options: object) => Promise<ViteServer>;
}

interface ViteServer {
  readonly config: { readonly root: string };
  middlewares(incoming: IncomingMessage, outgoing: ServerResponse): void;
  ssrLoadModule(path: string): Promise<object>;
}

interface Rendered {
  readonly head: readonly string[];
  readonly body: string;
}

// The form is that of front-end.ts, which starts this program.
const frontEnd = JSON.parse(process.argv[2] ?? "{}") as ViteFrontEnd & { readonly endpoint: string };
const { root, configModule, serverEntry, stylesheet, endpoint } = frontEnd;

const packagePath = createRequire(join(root, "package.json")).resolve("vite");
const { createServer } = (await import(pathToFileURL(packagePath).href)) as Vite;
const server = nodeHttp.createServer();
const vite = await createServer({
  root,
  ...(configModule !== undefined && (await readConfig(configModule))),
  appType: "custom",
  clearScreen: false,
  server: { middlewareMode: true, ws: { server } },
});

async function readConfig(module: string): Promise<object> {
  const exported = (await import(pathToFileURL(module).href)) as { viteConfig: (root: string) => Promise<object> };
  return exported.viteConfig(root);
}

/** One page at a time: renders share the variables of their modules. */
let queue: Promise<unknown> = Promise.resolve();

async function render(page: unknown): Promise<Rendered> {
  // The module of the application exports this function.
  const module = (await vite.ssrLoadModule(`/${serverEntry ?? ""}`)) as {
    render: (page: unknown) => Promise<Rendered>;
  };
  const { head, body } = await module.render(page);
  if (stylesheet === undefined) return { head, body };
  // Vite's client takes the link over by this name.
  const id = join(vite.config.root, stylesheet).replaceAll("\\", "/");
  return { head: [...head, `<link rel="stylesheet" href="/${stylesheet}" data-vite-dev-id="${id}">`], body };
}

function respondWithPage(incoming: IncomingMessage, outgoing: ServerResponse): void {
  queue = queue
    .then(async () => render(await json(incoming)))
    .then(
      (result) => outgoing.setHeader("Content-Type", "application/json").end(JSON.stringify(result)),
      (error: Error) => outgoing.writeHead(500, { "Content-Type": "text/plain" }).end(error.stack),
    );
}

server.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => {
  if (serverEntry !== undefined && incoming.url === "/__inertia_ssr" && incoming.method === "POST")
    respondWithPage(incoming, outgoing);
  else vite.middlewares(incoming, outgoing);
});
server.listen(endpoint);
await once(server, "listening");
process.stdin.on("end", () => process.exit()).resume();
process.send?.("ready");
