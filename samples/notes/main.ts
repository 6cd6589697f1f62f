/** Notes: one file with every stage on. In the root of a clone: `npm run build && node dist/samples/notes/main.js`. */
import { randomBytes } from "node:crypto";
import * as web from "@stagecraft/framework";
import { Get, NotFoundError, Post, Reply, Route, RouteGroup } from "@stagecraft/framework";
import { installLogging, Metrics, tracing } from "@stagecraft/framework/observe";
import { PageContracts, Pages } from "@stagecraft/framework/pages";
import { CsrfConfig, SessionConfig } from "@stagecraft/framework/session";
import { z } from "zod";

const log = tracing.target("notes");
const metrics = new Metrics();
const NewNote = z.object({ text: z.string().min(1).max(500) });
const store: { readonly id: number; readonly text: string }[] = [];

const notes = web.routes("notes", "/notes", { index: Get("/"), show: Get("/{id}"), create: Post("/") });
const routes = new web.Routes([
  Route.get("/", () => web.redirect().route(notes.index)),
  Route.get("/metrics", () => metrics.response()),
  RouteGroup.of(notes, {
    index: () => store,
    show({ params }) {
      const note = store.find(({ id }) => String(id) === params.id);
      if (note === undefined) throw new NotFoundError(`no note ${params.id}`);
      return note;
    },
    async create(ctx) {
      const note = { id: store.length + 1, ...(await ctx.json(NewNote)) };
      store.push(note);
      log.info("note added", { id: note.id });
      return Reply.created(notes.show.url(note.id), note);
    },
  }),
]);

installLogging("info");
await web.Application.create()
  .routes(routes)
  .config(web.AppConfig.fromEnv({ APP_NAME: "notes", ...process.env }))
  .devProxy() // 1, where the development server of a front end runs
  .proxy(({ url }) => (url === "/n" ? web.ProxyAction.rewrite("/notes") : web.ProxyAction.continue())) // 2
  .healthPrefix("/up") // 3
  .uagEndpoint() // 4, in debug builds
  .compression() // 5
  .securityHeaders(new web.SecurityHeaders().withCsp("default-src 'none'")) // 6
  .cors({ origins: ["http://localhost:5173"] }) // 7
  .requestId() // 8
  .traceContext() // 8
  .accessLog() // 9
  .metrics(metrics) // 9
  .catchPanic() // 10
  .errorMapping(new web.ErrorMapping().redactErrors(web.profile === "release")) // 11
  .bodyLimit(16 * 1024) // 12
  .timeout(10_000, { status: 503 }) // 13
  .maintenance() // 14
  .rateLimit(web.RateLimit.perSecond(20).burst(40)) // 15
  .session(SessionConfig.dev(randomBytes(64))) // 16
  .csrf(CsrfConfig.dev()) // 17: programs send `Authorization: Bearer …`
  .pages(new Pages()) // 18
  .pageContracts(new PageContracts()) // 19
  .redirectMapper(true) // 20
  .layer(async (ctx, next) => {
    await next();
    ctx.set("Cache-Control", "no-store");
  }) // 21, around the routes, which are 22
  .staticFiles({ root: "samples/notes/public" }) // 23
  .build()
  .run();
