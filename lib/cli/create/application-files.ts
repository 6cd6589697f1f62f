/** `src/app.ts` and `src/main.ts` of a new project. */
import { hasSessions, type ProjectOptions } from "./options.js";
import { toImport, toText, type ProjectFile } from "./project-file.js";

export function applicationFiles(options: ProjectOptions): readonly ProjectFile[] {
  return [
    ["src/app.ts", toApplication(options)],
    ["src/main.ts", MAIN],
  ];
}

const MAIN = `/** The program: \`npm start\`. */
import { installLogging } from "@stagecraft/framework/observe";
import createApp from "./app.js";

installLogging("info");
await createApp().build().run();
`;

function toApplication(options: ProjectOptions): string {
  return toText(
    "/** The application: its modules, and the stages of every request, in any order. Its import starts nothing. */",
    ...toImports(options),
    "",
    "const VARIABLES = {",
    "  /** The address to listen on. A container needs 0.0.0.0. */",
    '  HOST: variable.text().default("127.0.0.1"),',
    ...(hasSessions(options) ? KEY_VARIABLE : []),
    "};",
    ...(options.pages === "none" ? [] : POLICY),
    "",
    `@Module({ imports: [${options.auth ? "AccountsModule, " : ""}NotesModule] })`,
    "class AppModule {}",
    "",
    "/** `main.ts` runs it, each test starts one, and the command reads it. */",
    `export default function createApp(${options.database === "none" ? "" : "database = openDatabase()"}) {`,
    `  const { HOST${hasSessions(options) ? ", APP_KEY = randomBytes(64)" : ""} } = environment(VARIABLES);`,
    ...(hasSessions(options) ? SESSIONS : []),
    "  return Application.create(AppModule)",
    ...toStages(options).map((stage) => `    ${stage}`),
    "}",
  ).replace(/\n}\n$/, ";\n}\n");
}

const KEY_VARIABLE = [
  "  /** Signs cookies and links. Without it each start of a debug build has a new one. */",
  '  APP_KEY: profile === "release" ? variable.keys() : variable.keys().optional(),',
];

const POLICY = [
  "",
  "const POLICY =",
  `  "default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; " +`,
  `  "img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";`,
];

const SESSIONS = [
  "  const [session, csrf] = [SessionConfig.pages(APP_KEY), CsrfConfig.pages()];",
  '  const isRelease = profile === "release"; // A machine of a developer has no TLS.',
];

const STORE = ", new DatabaseSessionStore(database)";
const STORES = { none: "", sqlite: STORE, postgres: STORE, mysql: STORE } as const;

function toImports(options: ProjectOptions): readonly string[] {
  const { pages, auth } = options;
  const names = [
    "AppConfig",
    "Application",
    "environment",
    "Module",
    ...(hasSessions(options) ? ["profile"] : []),
    ...(options.database === "none" ? [] : ["provide"]),
    "SecurityHeaders",
    "variable",
  ];
  return [
    ...(hasSessions(options) ? ['import { randomBytes } from "node:crypto";'] : []),
    toImport(names, "@stagecraft/framework"),
    ...(auth && pages !== "none" ? ['import { redirectToSignIn } from "@stagecraft/framework/auth";'] : []),
    ...(pages === "none" ? [] : ['import { Pages } from "@stagecraft/framework/pages";']),
    ...(hasSessions(options) ? ['import { CsrfConfig, SessionConfig } from "@stagecraft/framework/session";'] : []),
    ...(hasSessions(options) && options.database !== "none"
      ? ['import { DatabaseSessionStore } from "@stagecraft/framework/session/db";']
      : []),
    ...(auth ? ['import { AccountsModule, identities } from "./accounts/accounts.module.js";'] : []),
    ...(auth && pages !== "none" ? ['import { account } from "./accounts/account.routes.js";'] : []),
    ...(options.database === "none" ? [] : ['import { AppDatabase, openDatabase } from "./database.js";']),
    'import { NotesModule } from "./notes/notes.module.js";',
  ];
}

function toStages(options: ProjectOptions): readonly string[] {
  const { pages, auth } = options;
  const withPages = pages !== "none";
  return [
    ".config(AppConfig.fromEnv())",
    ".bind(HOST)",
    ...toProviders(options),
    ".requestId()",
    ".traceContext()",
    ".accessLog()",
    ".metrics()",
    `.securityHeaders(new SecurityHeaders()${withPages ? ".withCspNonce(POLICY)" : ""})`,
    ".catchPanic()",
    ".errorMapping()",
    ".bodyLimit(64 * 1024)",
    ".timeout(10_000, { status: 503 })",
    ...(hasSessions(options)
      ? [
          `.session(isRelease ? session : session.dev()${STORES[options.database]})`,
          ".csrf(isRelease ? csrf : csrf.dev())",
        ]
      : []),
    ...(auth && withPages ? [".layer(redirectToSignIn(account.signInPage))"] : []),
    ...(withPages
      ? [
          `.pages(new Pages({ entry: "pages/main.${pages === "react" ? "tsx" : "ts"}", source: "pages/{component}.page.${PAGE_ENDINGS[pages]}" }))`,
          ".devProxy()",
          ".staticFiles()",
        ]
      : []),
  ];
}

function toProviders({ database, auth }: ProjectOptions): readonly string[] {
  if (database === "none") return [];
  return [`.provide(provide(AppDatabase).useValue(database)${auth ? ", ...identities(APP_KEY)" : ""})`];
}

/** The last part of the name of a page's file. */
export const PAGE_ENDINGS = { react: "tsx", vue: "vue", svelte: "svelte" } as const;
