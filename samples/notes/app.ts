/** Notes: one file with every stage on, and `main.ts` that runs it. In the root of a clone: `npm run build && node dist/samples/notes/main.js`. */
import { randomBytes } from "node:crypto";
import * as web from "@stagecraft/framework";
import { Context, Controller, Delete, Get, inject, Middleware, Module, On, Post, Reply } from "@stagecraft/framework";
import { Metrics, tracing } from "@stagecraft/framework/observe";
import { PageContracts, Pages } from "@stagecraft/framework/pages";
import { CsrfConfig, SessionConfig } from "@stagecraft/framework/session";
import { z } from "zod";

interface Note {
  readonly id: number;
  readonly text: string;
}

const MAX_NOTES = 10;
const NewNote = z.object({ text: z.string().min(1).max(500) });
const noteAdded = web.event<Note>("note.added");
const log = tracing.target("notes");

const notes = web.routes("notes", "/notes", {
  index: Get("/"),
  show: Get("/{id}"),
  create: Post("/"),
  remove: Delete("/{id}"),
});

class NoteStore {
  private readonly notes = new Map<string, Note>();
  private added = 0;

  all() {
    return [...this.notes.values()];
  }

  find(id: string) {
    const note = this.notes.get(id);
    if (note === undefined) throw new web.NotFoundError(`no note ${id}`);
    return note;
  }

  add(text: string) {
    const note = { id: ++this.added, text };
    this.notes.set(String(note.id), note);
    return note;
  }

  remove(id: string) {
    this.notes.delete(id);
  }
}

/** A guard. */
class NotFull implements web.Middleware {
  constructor(private readonly store = inject(NoteStore)) {}

  handle(_ctx: Context, next: web.Next) {
    if (this.store.all().length >= MAX_NOTES) throw new web.ConflictError(`there are ${MAX_NOTES} notes already`);
    return next();
  }
}

/** A listener. */
class Journal {
  @On(noteAdded)
  write({ id }: Note) {
    log.info("note added", { id });
  }
}

@Controller(notes)
class NotesController {
  constructor(
    private readonly store = inject(NoteStore),
    private readonly events = inject(web.Events),
  ) {}

  @notes.index
  index() {
    return this.store.all();
  }

  @notes.show
  show({ params }: Context<"id">) {
    return this.store.find(params.id);
  }

  @notes.create
  @Middleware(NotFull)
  async create(ctx: Context) {
    const { text } = await ctx.json(NewNote);
    const note = this.store.add(text);
    await this.events.emit(noteAdded, note);
    return Reply.created(notes.show.url(note.id), note);
  }

  @notes.remove
  remove({ params }: Context<"id">) {
    this.store.remove(params.id);
  }
}

@Controller()
class HomeController {
  constructor(private readonly metrics = inject(Metrics)) {}

  @Get("/")
  home() {
    return web.redirect().route(notes.index);
  }

  @Get("/metrics")
  expose() {
    return this.metrics.response();
  }
}

@Module({ controllers: [HomeController, NotesController], providers: [NoteStore, Journal], events: [noteAdded] })
class NotesModule {}

export default web.Application.create(NotesModule)
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
  .metrics() // 9
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
  .staticFiles({ root: "samples/notes/public" }); // 23
