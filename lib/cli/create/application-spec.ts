/** `src/app.spec.ts` of a new project: what its features promise. */
import { DATABASE_URLS } from "./setting-files.js";
import type { ProjectOptions } from "./options.js";
import { toText } from "./project-file.js";

export function toApplicationSpec(options: ProjectOptions): string {
  return toText(
    ...toImports(options),
    "",
    ...(options.auth ? ACCOUNT_VALUES : []),
    ...toStart(options),
    "",
    'describe("notes", () => {',
    ...noteTests(options),
    "});",
    ...(options.auth ? ["", 'describe("accounts", () => {', ...accountTests(options), "});"] : []),
  );
}

function toImports(options: ProjectOptions): readonly (string | false)[] {
  const { auth, pages, database } = options;
  return [
    auth && 'import { setTimeout } from "node:timers/promises";',
    auth && 'import { type Binding, provide } from "@stagecraft/framework";',
    auth && 'import { Passwords } from "@stagecraft/framework/auth";',
    isServer(options) && 'import { emptied } from "@stagecraft/framework/db";',
    auth && 'import { Mailer, MemoryMailer } from "@stagecraft/framework/mail";',
    `import { ${pages === "none" ? "expectProblem, " : ""}testApp } from "@stagecraft/framework/testing";`,
    'import { expect } from "chai";',
    auth && 'import { account } from "./accounts/account.routes.js";',
    'import createApp from "./app.js";',
    database !== "none" && `import { ${isServer(options) ? "AppDatabase, " : ""}openDatabase } from "./database.js";`,
    'import { notes } from "./notes/notes.routes.js";',
  ];
}

const ACCOUNT_VALUES = [
  'const person = { name: "Ada", email: "ada@shop.example", password: "correct horse" };',
  "const cheap = new Passwords({ scrypt: { logN: 4, blockSize: 8, parallelism: 1 } });",
  "",
];

/** The function that starts the application of a test. */
function toStart(options: ProjectOptions): readonly string[] {
  const { name, auth, database } = options;
  if (database === "none") return ["function start() {", "  return testApp(createApp());", "}"];
  const [parameter, given] = auth ? ["...overrides: readonly Binding[]", ", ...overrides"] : ["", ""];
  if (database === "sqlite")
    return [
      "/** Each test has a new application and a new database. */",
      `function start(${parameter}) {`,
      `  return testApp(createApp(openDatabase(":memory:"))${given});`,
      "}",
    ];
  return [
    `const LOCAL = "${DATABASE_URLS[database](`${name}_test`)}";`,
    "",
    "/** Each test has a new application, and an empty database: never that of development. */",
    `async function start(${parameter}) {`,
    `  const app = await testApp(createApp(openDatabase(process.env["TEST_DATABASE_URL"] ?? LOCAL))${given});`,
    "  await emptied(app.resolve(AppDatabase));",
    "  return app;",
    "}",
  ];
}

function noteTests(options: ProjectOptions): readonly string[] {
  const { auth, pages } = options;
  const [client, statement] = toClient(options);
  const [stores, refuses] =
    pages === "none" ? [storeByJson(client), REFUSAL(client)] : [storeByForm(client), MISS(client)];
  return [
    ...toTest("are stored", statement, stores),
    "",
    ...(pages === "none"
      ? toTest("need a text", statement, refuses)
      : toTest("have no other page", statement, refuses)),
    ...(auth ? ["", ...toTest("need a sign-in", undefined, VISITOR)] : []),
  ];
}

/** The client of a test, and the line that creates it. */
function toClient({ pages, auth }: ProjectOptions): readonly [name: string, statement: string | undefined] {
  if (auth) return ["ada", 'const ada = await app.actingAs("ada");'];
  return pages === "none" ? ["app", undefined] : ["browser", "const browser = app.withCsrf();"];
}

function toTest(title: string, statement: string | undefined, body: readonly string[]): readonly string[] {
  const lines = ["await using app = await start();", ...(statement === undefined ? [] : [statement]), "", ...body];
  return [`  it("${title}", async () => {`, ...lines.map((line) => (line === "" ? "" : `    ${line}`)), "  });"];
}

function storeByJson(client: string): readonly string[] {
  return [
    `const created = await ${client}.post(notes.create.url(), { json: { text: "tea" } });`,
    "",
    "expect(created.status).to.equal(201);",
    `const listed = await ${client}.get(notes.index.url());`,
    "expect(await listed.json()).to.deep.equal([await created.json()]);",
  ];
}

function storeByForm(client: string): readonly string[] {
  return [
    `const stored = await ${client}.post(notes.create.url(), { json: { text: "green tea" } });`,
    "",
    "expect(stored.status).to.equal(303);",
    `const page = await ${client}.get(notes.index.url());`,
    'expect(await page.text()).to.include("green tea");',
  ];
}

const REFUSAL = (client: string) => [
  `const response = await ${client}.post(notes.create.url(), { json: { text: "" } });`,
  "",
  'await expectProblem(response, { status: 422, slug: "validation" });',
];

const MISS = (client: string) => [
  `const response = await ${client}.get("/no-such-page");`,
  "",
  "expect(response.status).to.equal(404);",
];

const VISITOR = ["const response = await app.get(notes.index.url());", "", "expect(response.status).to.equal(401);"];

function accountTests({ pages }: ProjectOptions): readonly string[] {
  const isJson = pages === "none";
  return [
    '  it("begin with the link of a mail", async () => {',
    '    const mailer = new MemoryMailer({ from: "shop@shop.example" });',
    "    await using app = await start(provide(Mailer).useValue(mailer), provide(Passwords).useValue(cheap));",
    "    const browser = app.withCsrf();",
    "",
    "    await browser.post(account.signUp.url(), { json: person });",
    "    while (mailer.sent.length === 0) await setTimeout(5);",
    '    const [link = ""] = /http\\S+/.exec(mailer.sent[0]?.text ?? "") ?? [];',
    "    const confirmed = await browser.post(link, { json: {} });",
    "",
    `    expect(confirmed.status).to.equal(${isJson ? 200 : 303});`,
    "    expect((await browser.get(notes.index.url())).status).to.equal(200);",
    "  });",
    "",
    '  it("do not open with a wrong password", async () => {',
    "    await using app = await start(provide(Passwords).useValue(cheap));",
    "    const browser = app.withCsrf();",
    "",
    "    const { email, password } = person;",
    "    const response = await browser.post(account.signIn.url(), { json: { email, password } });",
    "",
    `    expect(response.status).to.equal(${isJson ? 401 : 303});`,
    "    expect((await browser.get(notes.index.url())).status).to.equal(401);",
    "  });",
  ];
}

function isServer({ database }: ProjectOptions): boolean {
  return database === "postgres" || database === "mysql";
}
