/**
 * Serves the test application of Inertia's own browser tests through the framework: `node dist/spec/tools/judges/inertia/bridge.js <checkout>`. The
 * routes are those of the checkout (`tests/app/server.js`), in which the test application of React is built. Their `render`, `location` and
 * `redirect` become values of the framework, and the framework's stage of pages sends the response.
 *
 * Not part of the test run: a checkout of the suite is not in the repository.
 */
import { readFileSync } from "node:fs";
import { type IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Any, Application, type Context, provide, redirect, Reply, Route, Routes } from "@stagecraft/framework";
import { type DocumentBody, external, Pages } from "@stagecraft/framework/pages";
import { Uploads } from "@stagecraft/framework/uploads";
import { SuitePrecognition } from "./suite-precognition.js";
import { pageOf, type SuitePage } from "./suite-page.js";

const PORT = 13_716;

type SuiteApp = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void;

/** The value of the framework for a response of the suite. */
interface Pending {
  readonly ctx: Context;
  readonly settle: (value: unknown) => void;
}

const pending = new WeakMap<ServerResponse, Pending>();

function suiteApp(checkout: string): SuiteApp {
  const load = createRequire(join(checkout, "tests/app/server.js"));
  const express = load("express") as { readonly application: Record<string, unknown> };
  let app: SuiteApp | undefined;
  // The suite listens on import; the bridge does in its place.
  express.application["listen"] = function (this: SuiteApp) {
    // oxlint-disable-next-line typescript/no-this-alias -- Express calls it on the application
    app = this;
  };
  load("./helpers");
  const helpers = load.cache[load.resolve("./helpers")];
  if (helpers === undefined) throw new Error("the checkout has no tests/app/helpers.js");
  helpers.exports = replacedHelpers(helpers.exports as object);
  load("./server.js");
  if (app === undefined) throw new Error("the suite's server did not listen");
  return app;
}

function render(_request: IncomingMessage, response: ServerResponse, data: SuitePage = {}): void {
  const { ctx, settle } = pendingOf(response);
  settle(pageOf(ctx, data));
}

/** Server rendering stays the suite's own. */
function replacedHelpers(own: object): object {
  return {
    ...own,
    package: "react",
    render,
    renderWithPlainTitle: render,
    renderUnified: render,
    renderAuto: render,
    location: (response: ServerResponse, href: string) =>
      pendingOf(response).settle(href.startsWith("/") ? conflict(href) : external(href)),
    redirect: (response: ServerResponse, href: string) => pendingOf(response).settle(redirect().to(href)),
  };
}

/** A location of this site: the framework's `external` takes absolute URLs only. */
function conflict(href: string): Reply {
  return Reply.empty(409).header("X-Inertia-Location", href);
}

function pendingOf(response: ServerResponse): Pending {
  const found = pending.get(response);
  if (found === undefined) throw new Error("a response without a request");
  return found;
}

/** Runs the suite's route. What it writes to its response becomes a reply. */
function respondWith(app: SuiteApp, ctx: Context): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const response = new ServerResponse(ctx.req);
    const chunks: Buffer[] = [];
    pending.set(response, { ctx, settle: resolve });
    response.write = (chunk: string | Uint8Array) => chunks.push(Buffer.from(chunk as string)) > 0;
    response.end = ((chunk?: string | Uint8Array) => {
      if (chunk !== undefined && typeof chunk !== "function") chunks.push(Buffer.from(chunk as string));
      resolve(replyOf(response, Buffer.concat(chunks)));
      return response;
    }) as ServerResponse["end"];
    Object.defineProperty(response, "socket", { get: () => ctx.req.socket });
    app(ctx.req, response, (error) => (error === undefined ? resolve(undefined) : reject(error)));
  });
}

function replyOf(response: ServerResponse, body: Buffer): Reply {
  const type = String(response.getHeader("content-type") ?? "text/html; charset=utf-8");
  let reply = body.length === 0 ? Reply.empty(response.statusCode) : Reply.of(body, type, response.statusCode);
  for (const [name, value] of Object.entries(response.getHeaders())) {
    if (!["content-type", "content-length", "etag"].includes(name)) reply = reply.header(name, String(value));
  }
  return reply;
}

/**
 * The suite's documents, with the framework's script element and root in place of their own. Routes below `/unified` and `/auto` have
 * documents of other entries.
 */
function documentOf(checkout: string): (body: DocumentBody) => string {
  const [usual, unified, auto] = ["index", "index-unified", "index-auto"].map((name) =>
    readFileSync(join(checkout, `packages/react/test-app/dist/${name}.html`), "utf8"),
  );
  return ({ app }) => {
    const [, start] = /"url":"\\\/(unified|auto)/.exec(app) ?? [];
    const html = (start === "unified" ? unified : start === "auto" ? auto : usual) ?? "";
    return withPage(html, app, app.includes("nonce=default") ? ' nonce="test-default-nonce"' : "");
  };
}

function withPage(html: string, app: string, nonce: string): string {
  const start = 'window.initialPage = JSON.parse(document.querySelector("script[data-page]").textContent)';
  const [head = "", rest = ""] = html
    .replace("{{ headAttribute }}", "data-inertia")
    .replace(OWN_SCRIPT, "")
    .split('<div id="app"></div>');
  return `${head}${app}<script${nonce}>${start}</script>${rest}`;
}

/** Where the suite puts its page object: for the usual entry a classic script, else the element of the protocol. */
const OWN_SCRIPT =
  /<script>\s*window\.initialPage = '\{\{ placeholder \}\}'\s*<\/script>|<script data-page="app"[^>]*>\s*\{\{ placeholder \}\}\s*<\/script>/;

process.env["PACKAGE"] = "react";
const [checkout] = process.argv.slice(2);
if (checkout === undefined) throw new Error("give the folder of a checkout of inertiajs/inertia");
const suite = suiteApp(checkout);
const respond = (ctx: Context): Promise<unknown> => respondWith(suite, ctx);
await Application.create()
  .routes(
    new Routes([
      Route.of(Any("/"), respond),
      Route.of(Any("/{*rest}"), respond),
      Route.of(Any("/precognition/{*rest}"), respond).middleware(new SuitePrecognition(respond)),
    ]),
  )
  .provide(provide(Uploads).useValue(new Uploads()))
  .pages(new Pages({ document: documentOf(checkout) }))
  .port(PORT)
  .build()
  .run();
