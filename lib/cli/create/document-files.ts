/** `README.md` for people, and `AGENTS.md` for programs that write code in the project. */
import type { ProjectOptions } from "./options.js";
import { toText, type ProjectFile } from "./project-file.js";

export function documentFiles(options: ProjectOptions): readonly ProjectFile[] {
  return [
    ["README.md", toReadme(options)],
    ["AGENTS.md", toAgents(options)],
  ];
}

function toReadme(options: ProjectOptions): string {
  return toText(
    `# ${options.name}`,
    "",
    "```sh",
    "npm install",
    ...databaseCommands(options),
    "npm run dev   # http://localhost:3000; restarts after each change",
    "npm test",
    "npm run build && NODE_ENV=production npm start",
    "```",
    "",
    "`.env.example` lists the variables. Copy it to `.env`, which git ignores.",
    "",
    "The guide of the framework is in `node_modules/@stagecraft/framework/docs/guide`. `npx stagecraft --help` lists the commands:",
    "`npx stagecraft routes` shows the routes, and `npx stagecraft doctor` searches for faults of the set-up.",
    ...(options.docker ? ["", "```sh", ...imageCommands(options), "```"] : []),
  );
}

function imageCommands({ name, database, auth, pages }: ProjectOptions): readonly string[] {
  const variables = [
    "APP_URL=https://example.org",
    ...(auth || pages !== "none" ? ['APP_KEY="$APP_KEY"'] : []),
    ...(auth ? ['SMTP_URL="$SMTP_URL"'] : []),
    ...(database === "sqlite" ? ["DATABASE_FILE=/data/app.db"] : []),
    ...(database === "postgres" || database === "mysql" ? ['DATABASE_URL="$DATABASE_URL"'] : []),
  ];
  const given = `${variables.map((variable) => `-e ${variable}`).join(" ")}${database === "sqlite" ? " -v data:/data" : ""}`;
  return [
    `docker build -t ${name} .`,
    ...(database === "none" ? [] : [`docker run --rm ${given} ${name} node_modules/.bin/stagecraft migrate`]),
    `docker run --read-only -p 3000:3000 ${given} ${name}`,
  ];
}

function databaseCommands({ name, database }: ProjectOptions): readonly string[] {
  if (database === "postgres")
    return [
      `docker run -d --name ${name}-db -p 5432:5432 -e POSTGRES_PASSWORD=postgres -e POSTGRES_DB=${name} postgres:17`,
      `docker exec ${name}-db createdb -U postgres ${name}_test # once, for the tests`,
    ];
  if (database === "mysql")
    return [
      `docker run -d --name ${name}-db -p 3306:3306 -e MARIADB_ROOT_PASSWORD=mysql -e MARIADB_DATABASE=${name} mariadb:11`,
      `docker exec ${name}-db mariadb -pmysql -e 'create database \`${name}_test\`' # once, for the tests`,
    ];
  return [];
}

function toAgents(options: ProjectOptions): string {
  const { database, pages, auth } = options;
  return toText(
    "# For those who write code here",
    "",
    "`npm test` compiles and runs the tests. `npm run format` formats. Both must pass before a commit.",
    "",
    ...toTable([
      ["Where", "What"],
      ["`src/app.ts`", "the application: its modules and the stages of each request"],
      ["`src/main.ts`", "runs it"],
      ["`src/<feature>/`", "a feature: endpoints (`.routes.ts`), controller, store, module; tests end in `.spec.ts`"],
      ...(database === "none"
        ? []
        : ([
            ["`src/database.ts`", "the tables"],
            ["`src/migrations/`", "the steps of the schema, in the order of their names"],
          ] as const)),
      ...(auth ? ([["`src/accounts/`", "sign-up, sign-in, and who a user is"]] as const) : []),
      ...(pages === "none" ? [] : ([["`pages/`", "the front end: a page is a file of its name"]] as const)),
    ]),
    "",
    "- An endpoint declares what it takes and gives, with schemas. Its handler reads `ctx.input` and `ctx.params`, which are checked already.",
    "- A class asks for its services in the defaults of its constructor: `constructor(private readonly store = inject(NoteStore)) {}`.",
    "- A module lists its controllers and providers. `build()` names whatever is missing, with the fix.",
    "- An error of the framework, such as `NotFoundError`, becomes the response. Do not catch it in a handler.",
    database !== "none" &&
      "- A migration that was applied does not change: write a new one, `npx stagecraft make:migration add-colour`.",
    `- A test starts the application with \`testApp(createApp(${database === "none" ? "" : "openDatabase(…)"}), …overrides)\`, and replaces what it needs with \`provide(…)\`.`,
    database !== "none" &&
      "  It opens another database, as `src/app.spec.ts` does, because `createApp()` opens that of development.",
    "",
    `\`npx stagecraft make:module|contract|controller|job|mail|event|guard|policy|${pages === "react" ? "page|" : ""}migration|test NAME\` writes a file to begin with.`,
    "`npx stagecraft explain GET /notes` says what happens to a request. The guide is in `node_modules/@stagecraft/framework/docs/guide`;",
    "its `index.md` lists the pages.",
    false,
  );
}

function toTable(cells: readonly (readonly [string, string])[]): readonly string[] {
  const [first, second] = [0, 1].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map(([where, what]) => `| ${where.padEnd(first ?? 0)} | ${what.padEnd(second ?? 0)} |`);
  return [...lines.slice(0, 1), `| ${"-".repeat(first ?? 0)} | ${"-".repeat(second ?? 0)} |`, ...lines.slice(1)];
}
