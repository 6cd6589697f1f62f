/** Faults of an application that `build()` and `run()` report. */
import { IMPORTS, type Mistake, running } from "./mistake.js";

export const START_UP: readonly Mistake[] = [
  {
    title: "a class under controllers without @Controller",
    files: running(`class Links {}\n@Module({ controllers: [Links] }) class Shop {}`),
    says: [
      "E_CONTROLLER_MISSING Links is listed as a controller and has no @Controller",
      "at Links",
      'fix: write @Controller(table) or @Controller("/prefix") above it',
    ],
  },
  {
    title: "a provider that is not listed",
    files: running(
      `class Store {}\n@Controller() class Links { constructor(readonly store: Store) {} @Get("/") index() { return ""; } }\n@Module({ controllers: [Links] }) class Shop {}`,
    ),
    says: ["E_PROVIDER_MISSING", "at Links, constructor parameter 1 (store), in Shop", "fix: "],
  },
  {
    title: "a constructor parameter that is imported as a type",
    files: {
      ...running(
        `import type { Store } from "./store.js";\n@Controller() class Links { constructor(readonly store: Store) {} @Get("/") index() { return ""; } }\n@Module({ controllers: [Links] }) class Shop {}`,
      ),
      "store.ts": "export class Store {}",
    },
    says: [
      "E_TYPE_ERASED",
      "at Links, constructor parameter 1 (store), in Shop",
      "fix: import the class, not its type",
    ],
  },
  {
    title: "a constructor parameter of type string",
    files: running(
      `@Injectable() class Mailer { constructor(readonly url: string) {} }\n@Module({ providers: [Mailer] }) class Shop {}`,
    ),
    says: ["E_TYPE_PRIMITIVE", "at Mailer, constructor parameter 1 (url), in Shop", "fix: use @Inject(token<…>(…))"],
  },
  {
    title: "a class with constructor parameters and without a decorator",
    files: running(
      `class Store {}\nclass Links { constructor(readonly store: Store) {} }\n@Module({ providers: [Store, Links] }) class Shop {}`,
    ),
    says: [
      "E_INJECTABLE_MISSING Links has constructor parameters",
      "at constructor of Links",
      "fix: give each parameter a default: store = inject(Store)",
    ],
  },
  {
    title: "providers that need each other",
    files: running(
      `@Injectable() class A { constructor(@Inject(provideB()) readonly b: object) {} }\n@Injectable() class B { constructor(readonly a: A) {} }\nfunction provideB(): typeof Token { return Token; }\nabstract class Token {}\n@Module({ providers: [A, B, provide(Token).useFactory((resolve) => resolve(B))] }) class Shop {}`
        .replace("@Injectable() class A", "abstract class Token {}\n@Injectable() class A")
        .replace("\nfunction provideB(): typeof Token { return Token; }\nabstract class Token {}", "")
        .replace("provideB()", "Token"),
    ),
    says: ["E_PROVIDER_CYCLE providers need each other", "at ", "fix: move the shared part into another class"],
  },
  {
    title: "a module under imports that has no @Module",
    files: running(`class Accounts {}\n@Module({ imports: [Accounts] }) class Shop {}`),
    says: ["E_NOT_A_MODULE Accounts is not a module", "at ", "fix: decorate the class with @Module({ … })"],
  },
  {
    title: "a provider that is neither a class nor a binding",
    files: running(`@Module({ providers: [{} as never] }) class Shop {}`),
    says: [
      "E_PROVIDER_INVALID an object is neither a class nor a binding",
      "at provider",
      "fix: list a class, or provide",
    ],
  },
  {
    title: "an export that the module does not provide",
    files: running(`class Store {}\n@Module({ exports: [Store] }) class Shop {}`),
    says: ["E_EXPORT_UNKNOWN Shop exports Store", "at exports of Shop", "fix: add Store to the providers of Shop"],
  },
  {
    title: "an entry of a table that no method handles",
    files: running(
      `const links = routes("links", "/links", { index: Get("/"), create: Post("/") });\n@Controller(links) class Links { @links.index index() { return ""; } }\n@Module({ controllers: [Links] }) class Shop {}`,
    ),
    says: [
      "E_ENDPOINT_UNHANDLED no method of Links handles POST /links",
      "at Links",
      "fix: decorate a method with .create",
    ],
  },
  {
    title: "two routes of one path",
    files: running(
      `@Controller() class Links { @Get("/") index() { return ""; } @Get("/") home() { return ""; } }\n@Module({ controllers: [Links] }) class Shop {}`,
    ),
    says: ["E_ROUTE_DUPLICATE", "at ", "fix: "],
  },
  {
    title: "an endpoint above a static method",
    files: running(
      `@Controller() class Links { @Get("/") static index() { return ""; } }\n@Module({ controllers: [Links] }) class Shop {}`,
    ),
    says: [
      'E_DECORATOR_KIND @Get("/") stands above the static method Links.index',
      "it belongs above",
      "a public instance method",
    ],
    lines: 1,
  },
  {
    title: "a decorator without parentheses",
    files: running(`(Controller as (target: object) => void)(class Links {});\n@Module() class Shop {}`),
    says: [
      "E_DECORATOR_CALL @Controller stands above the class Links without parentheses",
      "Links",
      'write @Controller("/prefix")',
    ],
    lines: 1,
  },
  {
    title: "a misspelt option",
    files: running(`@Module({ contollers: [] } as object) class Shop {}`),
    says: [
      'E_OPTION @Module of Shop: "contollers" is not an option',
      "@Module of Shop",
      "the options are imports, controllers",
    ],
  },
  {
    title: "a factory that returns a promise",
    files: running(
      `class Pool {}\n@Module({ providers: [provide(Pool).useFactory(async () => new Pool())] }) class Shop {}`,
    ),
    says: [
      "E_FACTORY_PROMISE the factory of Pool returned a promise",
      "at factory of Pool, in Shop",
      "Subsystem.start()",
    ],
  },
  {
    title: "a constructor that returns a promise",
    files: running(
      `class Pool { constructor() { return Promise.resolve(this) as never; } }\n@Module({ providers: [Pool] }) class Shop {}`,
    ),
    says: [
      "E_CONSTRUCTOR_PROMISE the constructor of Pool returned a promise",
      "at constructor of Pool, in Shop",
      "Subsystem.start()",
    ],
  },
  {
    title: "a constructor that throws",
    files: running(
      `class Pool { constructor() { throw new Error("no file"); } }\n@Module({ providers: [Pool] }) class Shop {}`,
    ),
    says: [
      "E_PROVIDER_FAILED Pool could not be built: Error: no file",
      "at constructor of Pool, in Shop",
      "fix: correct the code",
    ],
  },
  {
    title: "a port out of range",
    files: running(`@Module() class Shop {}`, "await Application.create(Shop).port(70_000).build().run();"),
    says: ["E_PORT 70000 is not a port", "at .port(n)", "fix: give a whole number from 0"],
  },
  {
    title: "a public URL that is a host",
    files: running(
      `@Module() class Shop {}`,
      "await Application.create(Shop).config(AppConfig.fromEnv()).build().run();",
    ),
    env: { APP_URL: "shop.example" },
    says: [
      'E_APP_URL "shop.example" is not a URL',
      "at AppConfig.url (APP_URL)",
      "fix: write an absolute http or https URL",
    ],
  },
  {
    title: "a variable that is not set",
    files: { "main.ts": `${IMPORTS}environment({ DATABASE_URL: variable.text() });` },
    says: [
      "E_VARIABLE DATABASE_URL is not set",
      "at DATABASE_URL",
      "fix: set it in the environment of the process; it must be a text",
    ],
  },
  {
    title: "a port that is taken",
    files: {
      "main.ts": `${IMPORTS}import { createServer } from "node:http";\nconst server = createServer().listen(Number(process.env["PORT"]), "127.0.0.1");\nawait new Promise((resolve) => server.once("listening", resolve));\n@Module() class Shop {}\nserver.unref();\nawait Application.create(Shop).build().run();`,
    },
    says: ["cannot listen on 127.0.0.1:", "in use", "another port"],
  },
  {
    title: "an application that runs twice",
    files: running(
      `@Module() class Shop {}`,
      "const app = Application.create(Shop).build(); void app.run(); await app.run();",
    ),
    says: ["E_APPLICATION_USED run() was called on an application that was used by run()", "run()", "build another"],
  },
  {
    title: "a subsystem that does not start",
    files: running(
      `class Store extends Subsystem { readonly name = "store"; readonly kind = "cache"; async start() { throw new Error("refused"); } async stop() {} }\n@Module({ providers: [Store] }) class Shop {}`,
    ),
    says: [
      "E_SUBSYSTEM_START cache failed to start: refused",
      "at Store.start()",
      "fix: check the address and the credentials",
    ],
  },
  {
    title: "migrations that are not applied",
    files: {
      "main.ts": `${IMPORTS}import { Database, type Migration } from "@stagecraft/framework/db";\nimport { sqlite } from "@stagecraft/framework/db/sqlite";\nconst first: Migration = { name: "001_links", up: async () => undefined };\nclass ShopDatabase extends Database<{ links: { id: number } }> {}\n@Module({ providers: [provide(ShopDatabase).useValue(new ShopDatabase(sqlite(":memory:"), { migrations: [first] } as never))] }) class Shop {}\nawait Application.create(Shop).build().run();`,
    },
    says: ["E_DB_PENDING", "001_links", "run npx stagecraft migrate, or call db.migrations.run()"],
  },
  {
    title: "NODE_ENV that is misspelt, with run()",
    files: running(`@Module() class Shop {}`),
    env: { NODE_ENV: "prod" },
    says: ['E_NODE_ENV NODE_ENV is "prod"', "this would be a debug build", "fix: set NODE_ENV=production"],
    lines: 1,
  },
  {
    title: "NODE_ENV that is misspelt, with serve()",
    files: {
      "main.ts": `${IMPORTS}import { createServer } from "node:net";\n@Module() class Shop {}\nawait Application.create(Shop).build().serve(createServer());`,
    },
    env: { NODE_ENV: "staging" },
    says: ['E_NODE_ENV NODE_ENV is "staging"', "this would be a debug build", "a name such as staging in APP_ENV"],
    lines: 1,
  },
  {
    title: "a session key that is too short",
    files: {
      "main.ts": `import { SessionConfig } from "@stagecraft/framework/session";\nnew SessionConfig("short");`,
    },
    says: [
      "E_SESSION_KEY a session key is 64 random bytes",
      "128 hexadecimal characters, and not 5 characters",
      "node -p",
    ],
    lines: 1,
  },
  {
    title: "a cookie that browsers refuse",
    files: {
      "main.ts": `import { CsrfConfig } from "@stagecraft/framework/session";\nnew CsrfConfig().secure(false);`,
    },
    says: ["E_CSRF_COOKIE browsers refuse a cookie named __Host-…", "without Secure", "correct these or the name"],
    lines: 1,
  },
  {
    title: "an optional package that is not installed",
    files: {
      "main.ts": `import { RedisCache } from "@stagecraft/framework/cache/redis";\nnew RedisCache({ url: "redis://h" });`,
    },
    isApart: true,
    says: [
      "E_PEER_MISSING @stagecraft/framework/cache/redis needs the package ioredis",
      "which is not installed",
      "npm install ioredis",
    ],
    lines: 1,
  },
  {
    title: "a page of the API document without the package of its viewer",
    files: {
      "main.ts": `import { Application } from "@stagecraft/framework";\nApplication.create().apiDocs().build();`,
    },
    isApart: true,
    says: [
      "E_PEER_MISSING .apiDocs(…) needs the package swagger-ui-dist, which is not installed",
      "npm install swagger-ui-dist@5",
      "leave the page out: .apiDocs({ page: false })",
    ],
  },
];
