/**
 * AdonisJS 6 with its adapter for Inertia, the last versions for Node 20. Only the middleware of the adapter is on: no session, no body
 * parser. Its document is a template of Edge with the tags of Vite's manifest.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { defineConfig as defineInertia } from "@adonisjs/inertia";
import { IgnitorFactory } from "@adonisjs/core/factories";
import { MANIFEST, PAGE_COMPONENT, PAGE_VERSION, pageProps } from "../../../../dist/spec/tools/bench/fixtures.js";
import { serve } from "./support/serve.mjs";

const LAYOUT = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title inertia>Index</title>
@inertiaHead()
@vite(['pages/main.tsx'])
</head><body>
@inertia()
</body></html>
`;

/** The folder of an application: its views, and the manifest of its front end. */
function applicationFolder() {
  const folder = mkdtempSync(join(tmpdir(), "adonis-"));
  mkdirSync(join(folder, "resources/views"), { recursive: true });
  writeFileSync(join(folder, "resources/views/inertia_layout.edge"), LAYOUT);
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(MANIFEST));
  return folder;
}

async function declare(app) {
  const router = await app.container.make("router");
  const server = await app.container.make("server");
  server.use([() => import("@adonisjs/inertia/inertia_middleware")]);
  router.get("/links", ({ inertia }) => inertia.render(PAGE_COMPONENT, { errors: {}, ...pageProps() }));
}

async function pages({ port, host }) {
  process.env.HOST = host;
  process.env.PORT = String(port);
  const folder = applicationFolder();
  const providers = [
    () => import("@adonisjs/core/providers/edge_provider"),
    () => import("@adonisjs/vite/vite_provider"),
    () => import("@adonisjs/inertia/inertia_provider"),
  ];
  const vite = { manifestFile: join(folder, "manifest.json"), assetsUrl: "/build" };
  const ignitor = new IgnitorFactory()
    .withCoreConfig()
    .withCoreProviders()
    .merge({
      rcFileContents: { providers },
      config: { inertia: defineInertia({ assetsVersion: PAGE_VERSION }), vite },
    })
    .preload(declare)
    .create(pathToFileURL(`${folder}/`), { importer: (path) => import(path) });
  let server;
  await ignitor.httpServer().start((listener) => (server = createServer(listener)));
  return server.address();
}

await serve({ page: pages, document: pages });
