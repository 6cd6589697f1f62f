/** The files that `make:*` writes: for each kind, its path, its text, and the lines that the user adds elsewhere. */
import type { NameForms } from "./names.js";

/** A file to write, and what to do next. */
export interface CreatedFile {
  /** Below the folder of the project, with `/`. */
  readonly path: string;
  readonly text: string;
  /** The lines to add, each with the place. */
  readonly next: readonly string[];
}

export const MAKERS = {
  controller: makeController,
  module: makeModule,
  contract: makeContract,
  job: makeJob,
  mail: makeMail,
  event: makeEvent,
  guard: makeGuard,
  policy: makePolicy,
  page: makePage,
  migration: makeMigration,
  test: makeTest,
} satisfies Readonly<Record<string, (names: NameForms, now: Date, databaseOfTests: string) => CreatedFile>>;

function makeContract({ folder, kebab, camel }: NameForms): CreatedFile {
  return {
    path: `src/${folder}/${kebab}.routes.ts`,
    text: `import { Get, Post, routes } from "@stagecraft/framework/routes";
import { z } from "zod";

const NewItem = z.object({ name: z.string().min(1).max(100) });
const Item = NewItem.extend({ id: z.int() });

export const ${camel} = routes("${kebab}", "/${kebab}", {
  index: Get("/", { responses: { 200: z.array(Item) } }),
  show: Get("/{id}", { params: { id: z.int() }, responses: { 200: Item } }),
  create: Post("/", { body: NewItem, responses: { 201: Item } }),
});
`,
    next: [`npx stagecraft make:controller ${folder === kebab ? kebab : `${folder}/${kebab}`}`],
  };
}

function makeController({ folder, kebab, camel, pascal }: NameForms): CreatedFile {
  const table = `${kebab}.routes.js`;
  return {
    path: `src/${folder}/${kebab}.controller.ts`,
    text: `import { type ContextOf, Controller, NotFoundError } from "@stagecraft/framework";
import { ${camel} } from "./${table}";

@Controller(${camel})
export class ${pascal}Controller {
  private readonly items: { id: number; name: string }[] = [];

  @${camel}.index
  index() {
    return this.items;
  }

  @${camel}.show
  show({ params }: ContextOf<typeof ${camel}.show>) {
    const item = this.items.find(({ id }) => id === params.id);
    if (item === undefined) throw new NotFoundError(\`no item \${params.id}\`);
    return item;
  }

  @${camel}.create
  create({ input }: ContextOf<typeof ${camel}.create>) {
    const item = { id: this.items.length + 1, ...input.body };
    this.items.push(item);
    return item;
  }
}
`,
    next: [
      `in a module: controllers: [${pascal}Controller]`,
      `its endpoints are in ${table}, which make:contract writes`,
    ],
  };
}

function makeModule({ folder, kebab, pascal }: NameForms): CreatedFile {
  return {
    path: `src/${folder}/${kebab}.module.ts`,
    text: `import { Module } from "@stagecraft/framework";

@Module({ controllers: [], providers: [] })
export class ${pascal}Module {}
`,
    next: [`in the module that uses it: imports: [${pascal}Module]`],
  };
}

function makeJob({ folder, kebab, camel, pascal }: NameForms): CreatedFile {
  return {
    path: `src/${folder}/${kebab}.job.ts`,
    text: `import { Handles, job, type JobContext } from "@stagecraft/framework/jobs";
import { tracing } from "@stagecraft/framework/observe";
import { z } from "zod";

const Payload = z.object({ id: z.int() });
const log = tracing.target("${kebab}");

/** \`jobs.dispatch(${camel}, { id: 7 })\` of an injected \`Jobs\`. */
export const ${camel} = job("${kebab}", Payload);

export class ${pascal}Job {
  /** Runs at least once for each dispatched job, so it must bear to run twice. */
  @Handles(${camel})
  async run({ id }: z.infer<typeof Payload>, { signal }: JobContext) {
    signal.throwIfAborted();
    log.info("the job ran", { id });
  }
}
`,
    next: [`in a module: providers: [${pascal}Job]`, "once in the application, unless it has it: providers: [Jobs]"],
  };
}

function makeMail({ folder, kebab, pascal }: NameForms): CreatedFile {
  return {
    path: `src/${folder}/${kebab}.mail.ts`,
    text: `import { html, Mail } from "@stagecraft/framework/mail";

/** \`mailer.send(new ${pascal}Mail({ name: "Ada" }).to("ada@example.com"))\` of an injected \`Mailer\`. */
export class ${pascal}Mail extends Mail<{ readonly name: string }> {
  subject() {
    return \`Hello \${this.data.name}\`;
  }

  text() {
    return \`Hello \${this.data.name},\\n\\nwelcome.\\n\`;
  }

  override html() {
    return html\`<p>Hello \${this.data.name}, welcome.</p>\`;
  }

  static readonly previews = { "a new member": () => new ${pascal}Mail({ name: "Ada" }) };
}
`,
    next: [`in a module, to see it: controllers: [...mailPreviews("/dev/mails", [${pascal}Mail])]`],
  };
}

function makeEvent({ folder, kebab, camel, pascal }: NameForms): CreatedFile {
  return {
    path: `src/${folder}/${kebab}.event.ts`,
    text: `import { event, On } from "@stagecraft/framework";
import { tracing } from "@stagecraft/framework/observe";

const log = tracing.target("${kebab}");

/** \`events.emit(${camel}, { id: 7 })\` of injected \`Events\`. */
export const ${camel} = event<{ readonly id: number }>("${kebab}");

export class ${pascal}Listener {
  @On(${camel})
  handle({ id }: { readonly id: number }) {
    log.info("the event happened", { id });
  }
}
`,
    next: [`in a module: providers: [${pascal}Listener], events: [${camel}]`],
  };
}

function makeGuard({ folder, kebab, camel, pascal }: NameForms): CreatedFile {
  return {
    path: `src/${folder}/${kebab}.guard.ts`,
    text: `import { type Context, ForbiddenError, guard, Guards } from "@stagecraft/framework";

/** \`guards: [${camel}]\` of an endpoint or of a table of endpoints. */
export const ${camel} = guard<{ client: string }>("${kebab}", { refusals: [403] });

export class ${pascal}Guard {
  @Guards(${camel})
  check(ctx: Context) {
    const client = ctx.get("X-Client");
    if (client === "") throw new ForbiddenError("Say who you are in the header X-Client.");
    return { client };
  }
}
`,
    next: [`in a module: providers: [${pascal}Guard]`, `on an endpoint: guards: [${camel}]`],
  };
}

function makePolicy({ folder, kebab, pascal }: NameForms): CreatedFile {
  return {
    path: `src/${folder}/${kebab}.policy.ts`,
    text: `import { Policy } from "@stagecraft/framework";

interface User {
  readonly id: string;
}

interface Resource {
  readonly owner: string;
}

/** \`policy.can(user).update(resource)\` throws where the method returns false. */
export class ${pascal}Policy extends Policy<User, Resource> {
  update(user: User, { owner }: Resource) {
    return user.id === owner;
  }
}
`,
    next: [`in a module: providers: [${pascal}Policy]`],
  };
}

function makePage({ folder, kebab, pascal }: NameForms): CreatedFile {
  const name = folder === kebab ? kebab : `${folder}/${kebab}`;
  return {
    path: `pages/${name}.page.tsx`,
    text: `export default function ${pascal}({ title }: { readonly title: string }) {
  return <h1>{title}</h1>;
}
`,
    next: [`in a handler: return page("${name}", { title: "…" })`],
  };
}

/** The names of migrations are in the order of their dates. */
function makeMigration({ kebab }: NameForms, now: Date): CreatedFile {
  const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  return {
    path: `src/migrations/${stamp}-${kebab}.ts`,
    text: `import type { MigrationTables } from "@stagecraft/framework/db";
import type { Kysely } from "kysely";

/** Set it to true when \`up\` and \`down\` are complete. \`stagecraft dev\` applies a migration when it is saved, and only once. */
const isComplete = false;

export async function up(db: Kysely<MigrationTables>) {
  if (!isComplete) throw new Error("${stamp}-${kebab}: isComplete is false in its file");
  await db.schema
    .createTable("${kebab.replaceAll("-", "_")}")
    .addColumn("id", "integer", (id) => id.primaryKey())
    .execute();
}

export async function down(db: Kysely<MigrationTables>) {
  await db.schema.dropTable("${kebab.replaceAll("-", "_")}").execute();
}
`,
    next: [
      "complete up and down, then set isComplete to true: dev applies it, and so does npx stagecraft migrate",
      "to change it later, before it is released: npx stagecraft migrate:undo --force, and then the change",
    ],
  };
}

/** @param database the argument of `createApp`, so that a test does not write the database of development; empty without one */
function makeTest({ folder, kebab }: NameForms, _now: Date, database: string): CreatedFile {
  const up = "../".repeat(folder.split("/").length);
  const opening = `import { openDatabase } from "${up}database.js";\n`;
  return {
    path: `src/${folder}/${kebab}.spec.ts`,
    text: `import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import createApp from "${up}app.js";
${database === "" ? "" : opening}
describe("${kebab}", () => {
  it("responds", async () => {
    await using app = await testApp(createApp(${database}));

    const response = await app.get("/up");

    expect(response.status).to.equal(200);
  });
});
`,
    next: ["npm test"],
  };
}
