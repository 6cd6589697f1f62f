/** The program of each cell: samples/notes with decorators and injection, and nothing of its stages. */
import {
  type Context,
  Controller,
  event,
  Events,
  Get,
  inject,
  Middleware,
  middleware,
  Module,
  type Next,
  On,
  Post,
  provide,
  Reply,
} from "@stagecraft/framework";

interface Note {
  readonly text: string;
}

abstract class NoteStore {
  abstract all(): readonly Note[];
  abstract add(note: Note): void;
}

class MemoryNotes extends NoteStore {
  private readonly notes: Note[] = [];

  all() {
    return this.notes;
  }

  add(note: Note) {
    this.notes.push(note);
  }
}

const noteAdded = event<Note>("note.added");

class Journal {
  readonly lines: string[] = [];

  @On(noteAdded)
  write({ text }: Note) {
    this.lines.push(`added ${text}`);
  }
}

const NoStore = middleware(async function noStore(ctx: Context, next: Next) {
  await next();
  ctx.set("Cache-Control", "no-store");
});

@Controller("/notes")
class NotesController {
  constructor(
    private readonly store = inject(NoteStore),
    private readonly events = inject(Events),
    private readonly journal = inject(Journal),
  ) {}

  @Get("/")
  @Middleware(NoStore)
  index() {
    return this.store.all();
  }

  @Post("/")
  async create() {
    const note = { text: "milk" };
    this.store.add(note);
    await this.events.emit(noteAdded, note);
    return Reply.created("/notes", note);
  }

  @Get("/journal")
  lines() {
    return this.journal.lines;
  }

  @Get("/slow")
  async slow() {
    console.log("slow request");
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { state: "finished" };
  }
}

@Module({
  controllers: [NotesController],
  providers: [provide(NoteStore).useClass(MemoryNotes), Journal],
  events: [noteAdded],
})
export class NotesModule {}
