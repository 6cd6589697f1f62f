/** Notes: one file with every stage on. In the root of a clone: `npm run build && node dist/samples/notes/main.js`. */
import { randomBytes } from "node:crypto";
import * as web from "@stagecraft/framework";
import { Context, Controller, Get, Injectable, Module, NotFoundError, Post, Reply } from "@stagecraft/framework";
import { installLogging, Metrics, tracing } from "@stagecraft/framework/observe";
import { PageContracts, Pages } from "@stagecraft/framework/pages";
import { CsrfConfig, SessionConfig } from "@stagecraft/framework/session";
import { z } from "zod";

const log = tracing.target("notes");
const notes = web.routes("notes", "/notes", { index: Get("/"), show: Get("/{id}"), create: Post("/") });
const NewNote = z.object({ text: z.string().min(1).max(500) });

@Injectable()
class NoteStore {
  readonly all: { readonly id: number; readonly text: string }[] = [];
}

@Controller(notes)
class NotesController {
  constructor(private readonly store: NoteStore) {}

  @notes.index
  index() {
    return this.store.all;
  }

  @notes.show
  show({ params }: Context<"id">) {
    const note = this.store.all.find(({ id }) => String(id) === params.id);
    if (note === undefined) throw new NotFoundError(`no note ${params.id}`);
    return note;
  }

  @notes.create
  async create(ctx: Context) {
    const note = { id: this.store.all.length + 1, ...(await ctx.json(NewNote)) };
    this.store.all.push(note);
    log.info("note added", { id: note.id });
    return Reply.created(notes.show.url(note.id), note);
  }
}

@Module({ controllers: [NotesController], providers: [NoteStore] })
class NotesModule {}

const registry = new Metrics();
const front = new web.Routes([
  web.Route.get("/", () => web.redirect().route(notes.index)),
  web.Route.get("/metrics", () => registry.response()),
]);

installLogging("info");
await web.Application.create(NotesModule)
  .routes(front)
  .config(web.AppConfig.fromEnv({ APP_NAME: "notes", ...process.env }))
  .devProxy() // 1, where the development server of a front end runs
  .proxy(({ url }) => (url === "/n" ? web.ProxyAction.rewrite("/notes") : web.ProxyAction.continue())) // 2
  .healthPrefix("/up") // 3
  .compression() // 5
  .securityHeaders(new web.SecurityHeaders().withCsp("default-src 'none'")) // 6
  .cors({ origins: ["http://localhost:5173"] }) // 7
  .requestId() // 8
  .traceContext() // 8
  .accessLog() // 9
  .metrics(registry) // 9
  .catchPanic() // 10
  .errorMapping(new web.ErrorMapping().redactErrors(web.profile === "release")) // 11
  .bodyLimit(16 * 1024) // 12
  .timeout(10_000) // 13
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
