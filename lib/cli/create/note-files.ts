/** The feature that a new project has: notes, with their endpoints, controller, store, module and test. */
import type { ProjectOptions } from "./options.js";
import { toText, type ProjectFile } from "./project-file.js";

export function noteFiles(options: ProjectOptions): readonly ProjectFile[] {
  return [
    ["src/notes/notes.routes.ts", toRoutes(options)],
    ["src/notes/notes.controller.ts", toController(options)],
    ["src/notes/note-store.ts", options.database === "none" ? MEMORY_STORE : toStore(options)],
    ["src/notes/notes.module.ts", MODULE],
  ];
}

const MODULE = `import { Module } from "@stagecraft/framework";
import { NoteStore } from "./note-store.js";
import { NotesController } from "./notes.controller.js";

@Module({ controllers: [NotesController], providers: [NoteStore] })
export class NotesModule {}
`;

function toRoutes({ pages, auth }: ProjectOptions): string {
  const withPages = pages !== "none";
  const guards = auth ? ", { guards: [signedIn] }" : "";
  return toText(
    "/** The endpoints of notes: their paths, what they take and what they give. A front end may import this file. */",
    `import { ${withPages ? "content, " : ""}Get, Post, routes } from "@stagecraft/framework/routes";`,
    auth && 'import { signedIn } from "@stagecraft/framework/auth/guards";',
    withPages && 'import type {} from "@stagecraft/framework/pages";',
    'import { z } from "zod";',
    "",
    "const NewNote = z.object({ text: z.string().min(1).max(500) });",
    "export const Note = NewNote.extend({ id: z.string(), created_at: z.string() });",
    "",
    ...(withPages ? pageTable(guards) : jsonTable(auth)),
  );
}

function jsonTable(auth: boolean): readonly string[] {
  const entries = [
    'index: Get("/", { responses: { 200: z.array(Note) } }),',
    'show: Get("/{id}", { responses: { 200: Note } }),',
    'create: Post("/", { body: NewNote, responses: { 201: Note } }),',
  ];
  if (!auth)
    return ['export const notes = routes("notes", "/notes", {', ...entries.map((entry) => `  ${entry}`), "});"];
  return [
    "export const notes = routes(",
    '  "notes",',
    '  "/notes",',
    "  {",
    ...entries.map((entry) => `    ${entry}`),
    "  },",
    "  { guards: [signedIn] },",
    ");",
  ];
}

function pageTable(guards: string): readonly string[] {
  const entries = [
    'index: Get("/", { responses: { 200: content.page("notes/index") } }),',
    'create: Post("/notes", { body: NewNote, responses: { 303: content.redirect() } }),',
  ];
  const table =
    guards === ""
      ? ['export const notes = routes("notes", "", {', ...entries.map((entry) => `  ${entry}`), "});"]
      : [
          "export const notes = routes(",
          '  "notes",',
          '  "",',
          "  {",
          ...entries.map((entry) => `    ${entry}`),
          "  },",
          "  { guards: [signedIn] },",
          ");",
        ];
  return [
    "/** The props of each page, which handler and component share. */",
    'declare module "@stagecraft/framework/pages" {',
    "  interface PageContracts {",
    '    "notes/index": { notes: readonly z.infer<typeof Note>[] };',
    "  }",
    "}",
    "",
    ...table,
  ];
}

function toController({ pages, auth }: ProjectOptions): string {
  return pages === "none" ? toJsonController(auth) : toPageController(auth);
}

function toJsonController(auth: boolean): string {
  const [index, who] = auth ? ["{ identity }: ContextOf<typeof notes.index>", "identity.userId"] : ["", ""];
  const also = auth ? ", identity" : "";
  const [first, last] = auth ? ["identity.userId, ", ""] : ["", ""];
  return `import { type ContextOf, Controller, inject, NotFoundError, Reply } from "@stagecraft/framework";
import { NoteStore } from "./note-store.js";
import { notes } from "./notes.routes.js";

@Controller(notes)
export class NotesController {
  constructor(private readonly store = inject(NoteStore)) {}

  @notes.index
  index(${index}) {
    return this.store.all(${who});
  }

  @notes.show
  async show({ params${also} }: ContextOf<typeof notes.show>) {
    const note = await this.store.find(${first}params.id${last});
    if (note === undefined) throw new NotFoundError(\`no note \${params.id}\`);
    return note;
  }

  @notes.create
  async create({ input${also} }: ContextOf<typeof notes.create>) {
    const note = await this.store.add(${first}input.body.text);
    return Reply.created(notes.show.url(note.id), note);
  }
}
`;
}

function toPageController(auth: boolean): string {
  const [index, also, first, who] = auth
    ? ["{ identity }: ContextOf<typeof notes.index>", ", identity", "identity.userId, ", "identity.userId"]
    : ["", "", "", ""];
  return `import { type ContextOf, Controller, inject, redirect } from "@stagecraft/framework";
import { page } from "@stagecraft/framework/pages";
import { NoteStore } from "./note-store.js";
import { notes } from "./notes.routes.js";

@Controller(notes)
export class NotesController {
  constructor(private readonly store = inject(NoteStore)) {}

  @notes.index
  async index(${index}) {
    return page("notes/index", { notes: await this.store.all(${who}) }).head({ title: "Notes" });
  }

  @notes.create
  async create({ input${also} }: ContextOf<typeof notes.create>) {
    await this.store.add(${first}input.body.text);
    return redirect().route(notes.index);
  }
}
`;
}

const MEMORY_STORE = `import { randomUUID } from "node:crypto";
import { Clock, inject } from "@stagecraft/framework";
import type { z } from "zod";
import type { Note } from "./notes.routes.js";

/** Notes in the memory of the process: they end with it. */
export class NoteStore {
  private readonly notes = new Map<string, z.infer<typeof Note>>();

  constructor(private readonly clock = inject(Clock)) {}

  async all() {
    return [...this.notes.values()].reverse();
  }

  async find(id: string) {
    return this.notes.get(id);
  }

  async add(text: string) {
    const note = { id: randomUUID(), text, created_at: new Date(this.clock.now()).toISOString() };
    this.notes.set(note.id, note);
    return note;
  }
}
`;

function toStore({ auth }: ProjectOptions): string {
  const owner = auth ? "owner: string" : "";
  const first = auth ? "owner: string, " : "";
  return toText(
    'import { randomUUID } from "node:crypto";',
    'import { Clock, inject } from "@stagecraft/framework";',
    'import { AppDatabase } from "../database.js";',
    "",
    "const MAX_NOTES = 100;",
    "",
    "export class NoteStore {",
    "  constructor(",
    "    private readonly db = inject(AppDatabase),",
    "    private readonly clock = inject(Clock),",
    "  ) {}",
    "",
    "  /** The newest first. */",
    `  all(${owner}) {`,
    `    return this.select(${auth ? "owner" : ""}).orderBy("created_at", "desc").limit(MAX_NOTES).execute();`,
    "  }",
    "",
    `  find(${first}id: string) {`,
    `    return this.select(${auth ? "owner" : ""}).where("id", "=", id).executeTakeFirst();`,
    "  }",
    "",
    `  async add(${first}text: string) {`,
    "    const note = { id: randomUUID(), text, created_at: new Date(this.clock.now()).toISOString() };",
    ...(auth ? ["    const row = { ...note, owner };"] : []),
    `    await this.db.query.insertInto("notes").values(${auth ? "row" : "note"}).execute();`,
    "    return note;",
    "  }",
    "",
    `  private select(${owner}) {`,
    `    const notes = this.db.query.selectFrom("notes").select(["id", "text", "created_at"]);`,
    auth ? '    return notes.where("owner", "=", owner);' : "    return notes;",
    "  }",
    "}",
  );
}
