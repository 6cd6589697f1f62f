/**
 * samples/notes without decorators and without parameter properties, so that Node strips its types and runs it. `build()` creates the
 * instance that has the handlers, because a route has no class.
 */
import { AppConfig, Application, ConflictError, Delete, Get, inject, NotFoundError, Post } from "@stagecraft/framework";
import { Reply, Route, RouteGroup, Routes, routes, SecurityHeaders } from "@stagecraft/framework";
import type { Context, Middleware, Next } from "@stagecraft/framework";
import { installLogging, tracing } from "@stagecraft/framework/observe";
import { z } from "zod";

interface Note {
  readonly id: number;
  readonly text: string;
}

const MAX_NOTES = 10;
const NewNote = z.object({ text: z.string().min(1).max(500) });
const log = tracing.target("notes");

class NoteStore {
  private readonly notes = new Map<string, Note>();
  private added = 0;

  all() {
    return [...this.notes.values()];
  }

  find(id: string) {
    const note = this.notes.get(id);
    if (note === undefined) throw new NotFoundError(`no note ${id}`);
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

class NotFull implements Middleware {
  private readonly store = inject(NoteStore);

  handle(_ctx: Context, next: Next) {
    if (this.store.all().length >= MAX_NOTES) throw new ConflictError(`there are ${MAX_NOTES} notes already`);
    return next();
  }
}

class Notes {
  readonly store = inject(NoteStore);

  async create(ctx: Context) {
    const { text } = await ctx.json(NewNote);
    const note = this.store.add(text);
    log.info("note added", { id: note.id });
    return Reply.created(notes.show.url(note.id), note);
  }
}

const notes = routes("notes", "/notes", {
  index: Get("/"),
  show: Get("/{id}"),
  create: Post("/"),
  remove: Delete("/{id}"),
});

const group = RouteGroup.of(notes, {
  index: () => handlers.store.all(),
  show: ({ params }) => handlers.store.find(params.id),
  create: Route.of(notes.create, (ctx) => handlers.create(ctx)).middleware(NotFull),
  remove: ({ params }) => handlers.store.remove(params.id),
});

installLogging("info");
const application: Application = Application.create()
  .config(AppConfig.fromEnv())
  .provide(NoteStore, Notes)
  .routes(new Routes([group]))
  .securityHeaders(new SecurityHeaders().withCsp("default-src 'none'"))
  .requestId()
  .layer(async (ctx, next) => {
    await next();
    ctx.set("Cache-Control", "no-store");
  })
  .build();
const handlers = application.resolve(Notes);
await application.run();
