/**
 * The front end of the browser specs: its sources, its build by Vite, and the application that renders its pages. A build takes about
 * a second, so a suite builds it once.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { InlineConfig } from "vite";
import { z } from "zod";
import { Application } from "../../lib/app/application.js";
import type { ApplicationBuilder } from "../../lib/app/builder.js";
import { AppConfig } from "../../lib/app/config.js";
import type { Context } from "../../lib/http/request/context.js";
import { Reply } from "../../lib/http/response/reply.js";
import { Route } from "../../lib/routing/route.js";
import { Routes } from "../../lib/routing/routes.js";
import { external } from "../../lib/stages/pages/protocol/external.js";
import { Page } from "../../lib/stages/pages/page.js";
import { Pages, type PagesOptions } from "../../lib/stages/pages/pages.js";
import { deferred, optional, scroll } from "../../lib/stages/pages/props/prop.js";
import { redirect } from "../../lib/stages/redirects/redirect.js";
import { SecurityHeaders } from "../../lib/stages/security-headers/security-headers.js";
import { FakeFlash } from "./fake-flash.js";
import { ROOT } from "./sources.js";

export const SOURCES = join(ROOT, "spec/front-end");
const ENTRY = "main.jsx";
/** A style element needs the nonce; the attribute `style` of the list needs none. */
const POLICY =
  "default-src 'self'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; style-src-attr 'unsafe-inline'";

/** A build in a new directory. */
export class FrontEndBuild implements AsyncDisposable {
  private constructor(readonly directory: string) {}

  static async make(): Promise<FrontEndBuild> {
    const directory = await mkdtemp(join(tmpdir(), "front-end-"));
    // Imported here, because the import takes longer than most specs.
    const [{ build }, { default: react }] = await Promise.all([import("vite"), import("@vitejs/plugin-react")]);
    const shared: InlineConfig = { configFile: false, root: SOURCES, plugins: [react()], logLevel: "error" };
    const { NODE_ENV } = process.env;
    try {
      const outDir = join(directory, "public/build");
      await build({
        ...shared,
        build: { outDir, manifest: true, rolldownOptions: { input: join(SOURCES, ENTRY) } },
        base: "/build/",
      });
      const server = { outDir: join(directory, "server"), ssr: join(SOURCES, "server.jsx") };
      await build({ ...shared, build: server, ssr: { noExternal: true } });
    } finally {
      // A build of Vite sets it for the process, where React's plugin would find it in a later development server.
      if (NODE_ENV === undefined) delete process.env["NODE_ENV"];
      else process.env["NODE_ENV"] = NODE_ENV;
    }
    return new FrontEndBuild(directory);
  }

  get publicDirectory(): string {
    return join(this.directory, "public");
  }

  /** The module that renders pages on the server. */
  get serverBundle(): string {
    return join(this.directory, "server/server.js");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true });
  }
}

const NewEntry = z.object({ name: z.string().min(1, "is empty"), target: z.string().url("is not a URL") });
const PER_PAGE = 10;
const PAGES = 3;

/** The server of the front end. It counts its requests. */
export class FrontEndServer {
  readonly flash = new FakeFlash();
  readonly saved: string[] = [];
  times = 0;
  elsewhere = "https://pay.example/";

  constructor(private readonly build: Pick<FrontEndBuild, "publicDirectory">) {
    this.flash.empties = true;
  }

  builder(options: PagesOptions = {}): ApplicationBuilder {
    const pages = new Pages({
      entry: ENTRY,
      buildDirectory: join(this.build.publicDirectory, "build"),
      source: "pages/{component}.jsx",
      share: { visitor: "ann" },
      errors: { "4xx": "failure", "5xx": "failure" },
      ...options,
    });
    return Application.create()
      .config(new AppConfig({ url: "https://shop.example" }))
      .catchPanic()
      .securityHeaders(new SecurityHeaders().withCspNonce(POLICY))
      .staticFiles({ root: this.build.publicDirectory })
      .layer(this.flash.layer)
      .pages(pages)
      .routes(this.routes());
  }

  private routes(): Routes {
    return new Routes([
      Route.get("/", () => this.home()),
      Route.get("/list", (ctx: Context) => this.list(Number(ctx.search()["page"] ?? 1))),
      Route.get("/form", () => Page.of("form")),
      Route.post("/form", (ctx: Context) => this.save(ctx)),
      Route.delete("/form", () => redirect().to("/").with("notice", "Removed.")),
      Route.get("/slow", () => this.slow()),
      Route.get("/away", () => external(this.elsewhere)),
      Route.get("/part", () => redirect().to("/list#end")),
      Route.get("/empty", () => undefined),
      Route.get("/favicon.ico", () => Reply.noContent()),
    ]);
  }

  private home(): Page {
    return Page.of("home", {
      greeting: "Hello",
      time: () => ++this.times,
      extra: optional(() => "an extra"),
    });
  }

  private list(at: number): Page {
    const data = Array.from({ length: PER_PAGE }, (_, index) => ({ id: `item ${(at - 1) * PER_PAGE + index + 1}` }));
    const nextPage = at < PAGES ? at + 1 : null;
    return Page.of("list", {
      items: scroll({ data, currentPage: at, previousPage: at > 1 ? at - 1 : null, nextPage }),
    });
  }

  private async save(ctx: Context): Promise<unknown> {
    const { name } = await ctx.json(NewEntry);
    this.saved.push(name);
    this.flash.addData("notice", `Saved ${name}.`);
    return redirect().to("/");
  }

  private slow(): Page {
    return Page.of("slow", {
      numbers: deferred(async () => [1, 2, 3]),
      broken: deferred(() => Promise.reject(new Error("broken")), { rescue: true, group: "broken" }),
    });
  }
}
