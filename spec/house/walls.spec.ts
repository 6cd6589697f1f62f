/**
 * The walls between the rooms of `lib/`: which room imports which, which stage imports which, and where a cycle of types is allowed.
 * Each failure names the import that breaks the rule and the fix. Rules about a single file are in files.spec.ts.
 */

import { expect } from "chai";
import { STAGES, type Slot } from "../../lib/pipeline/table.js";
import {
  breaches,
  filesBelow,
  manifest,
  packageOf,
  type Source,
  sourcesBelow,
  textOf,
  toSource,
} from "../support/sources.js";

/** The row: each room imports only rooms to its left. */
const ROW = [
  "runtime",
  "errors",
  "endpoints",
  "tracing",
  "http",
  "di",
  "lifecycle",
  "observe",
  "contracts",
  "routing",
  "events",
  "commands",
  "stages",
  "openapi",
  "app",
];

/** Every room of the row and below `http`, with the rooms that it may import. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  runtime: [],
  errors: ["runtime"],
  // Of http only types, of the files in TYPES_OF_HTTP: see ERASED.
  endpoints: ["runtime", "errors", "http"],
  tracing: [],
  http: ["runtime", "errors", "tracing"],
  // Of http only the middleware contract: see DI_NEEDS_OF_HTTP.
  di: ["runtime", "errors", "http"],
  lifecycle: ["runtime", "errors", "tracing"],
  observe: ["runtime", "errors", "tracing", "http"],
  // Of di only the list of decorated classes, of lifecycle the type of the subsystems of a store.
  contracts: ["runtime", "errors", "endpoints", "tracing", "http", "di", "lifecycle"],
  routing: ["runtime", "errors", "endpoints", "http", "di", "contracts"],
  // Of http only the interface of schemas, of endpoints only the class chain of a decorated method.
  events: ["runtime", "errors", "endpoints", "tracing", "http", "di", "lifecycle"],
  commands: ["runtime", "errors", "endpoints", "di"],
  // Of the features only the port of the cache, for quotas that several processes share.
  stages: ["runtime", "errors", "endpoints", "tracing", "http", "di", "lifecycle", "observe", "routing", "cache"],
  // Of stages only the escaping of texts in a document.
  openapi: ["runtime", "errors", "endpoints", "http", "contracts", "routing", "stages"],
  pipeline: ["tracing", "http"],
  server: ["runtime", "errors", "tracing", "http"],
  // Of the features only the type of the cache.
  app: [...ROW.slice(0, -1), "pipeline", "server", "cache"],
};

const DI_NEEDS_OF_HTTP = "lib/http/middleware.ts";

/** Imports against the row that the compiler removes: the room whose types a room may name. */
const ERASED: Readonly<Record<string, string>> = { endpoints: "http" };

/** The files of http whose types an endpoint names: the context, the files of a form, and the events of a response. */
const TYPES_OF_HTTP: ReadonlySet<string> = new Set([
  "lib/http/request/context.ts",
  "lib/http/body/uploads.ts",
  "lib/http/response/event-stream.ts",
]);

/**
 * The features beside the row. A folder of a driver is a room of its own, which imports the port of its feature, and may import that of
 * another: the store of sessions in a database imports `db`.
 */
const FEATURES: Readonly<Record<string, readonly string[]>> = {
  // Of http only the interface of schemas.
  cache: ["runtime", "errors", "tracing", "http", "lifecycle"],
  "cache/redis": ["runtime", "errors", "tracing", "cache"],
  "auth/passwords": ["errors", "lifecycle"],
  crypto: ["runtime", "errors"],
  // Of crypto the signature of a URL.
  storage: ["runtime", "errors", "http", "lifecycle", "crypto"],
  "storage/fs": ["runtime", "errors", "tracing", "storage"],
  "storage/s3": ["runtime", "errors", "tracing", "storage"],
  db: ["runtime", "errors", "tracing", "lifecycle"],
  "db/drivers/mysql": ["runtime", "errors", "db"],
  "db/drivers/postgres": ["runtime", "errors", "db"],
  "db/drivers/sqlite": ["runtime", "errors", "lifecycle", "db"],
  // Of di and endpoints only the types and checks of decorators, of events the queue of their listeners.
  jobs: ["runtime", "errors", "endpoints", "tracing", "http", "di", "lifecycle", "observe", "events"],
  // Of the cache only the rules of a connection to Redis.
  "jobs/bullmq": ["runtime", "errors", "tracing", "lifecycle", "jobs", "cache/redis"],
  // Of di the type of classes, of http the context and the replies of the preview page, of jobs the queue of mails.
  mail: ["runtime", "errors", "endpoints", "tracing", "http", "di", "lifecycle", "routing", "jobs"],
  "mail/smtp": ["runtime", "errors", "tracing", "mail"],
  uploads: ["runtime", "errors", "tracing", "http", "lifecycle"],
  // Of stages only the session, the language of a document and the type of a prop.
  i18n: ["runtime", "errors", "tracing", "http", "lifecycle", "stages"],
  "idempotency/db": ["tracing", "lifecycle", "idempotency", "db"],
  // Of the cache the one whose connection it uses.
  "idempotency/redis": ["runtime", "errors", "tracing", "lifecycle", "idempotency", "cache"],
  idempotency: ["runtime", "errors", "endpoints", "tracing", "http", "lifecycle", "contracts"],
  // Of app only the configuration, of stages sessions and the buckets of the rate limit, of the cache the type of the option.
  auth: [
    "runtime",
    "errors",
    "endpoints",
    "tracing",
    "http",
    "di",
    "lifecycle",
    "contracts",
    "events",
    "stages",
    "app",
    "jobs",
    "mail",
    "crypto",
    "cache",
    "auth/passwords",
  ],
  // Of auth/jwt only the port of the refresh tokens.
  "auth/db": ["tracing", "di", "lifecycle", "auth", "auth/jwt", "db"],
  "auth/passkeys": ["errors", "tracing", "http", "di", "stages", "auth"],
  "auth/jwt": ["runtime", "errors", "endpoints", "tracing", "http", "di", "contracts", "crypto", "auth"],
  "auth/oauth": ["runtime", "errors", "tracing", "http", "di", "lifecycle", "stages", "crypto", "auth"],
  // Of errors nothing: a front end loads it, and everything that it imports.
  client: ["runtime", "endpoints"],
  "observe/otel": ["runtime", "errors", "tracing", "lifecycle", "observe"],
  // Of the cache the one whose connection it uses.
  "stages/session/stores/redis": ["lifecycle", "stages", "cache"],
  "stages/session/stores/db": ["errors", "tracing", "lifecycle", "stages", "db"],
  "stages/maintenance/db": ["lifecycle", "stages", "db"],
};

/** The test kit uses what it tests. The contracts of a mailer and of a queue make mails and jobs. */
const TOOLS: Readonly<Record<string, readonly string[]>> = {
  testing: [...Object.keys(ROOMS), "client", "auth", "auth/jwt", "auth/oauth"],
  "testing/contracts": [...Object.keys(ROOMS), "testing", "cache", "storage", "jobs", "mail", "idempotency", "auth"],
  // The top floor: no room imports it, and no entry point.
  cli: [...Object.keys(ROOMS), ...Object.keys(FEATURES), "testing"],
};

/** The rooms that import optional packages, with the packages. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "auth/passwords": ["@node-rs/argon2"],
  "cache/redis": ["ioredis"],
  "storage/s3": ["@aws-sdk/client-s3", "@aws-sdk/lib-storage", "@aws-sdk/s3-request-presigner"],
  db: ["kysely"],
  "db/drivers/mysql": ["mysql2"],
  "db/drivers/postgres": ["pg"],
  "db/drivers/sqlite": ["@photostructure/sqlite"],
  "stages/session/stores/db": ["kysely"],
  "stages/maintenance/db": ["kysely"],
  "idempotency/db": ["kysely"],
  "auth/db": ["kysely"],
  "auth/passkeys": ["@simplewebauthn/server"],
  "auth/jwt": ["jose"],
  "auth/oauth": ["openid-client"],
  jobs: ["croner"],
  "jobs/bullmq": ["bullmq", "ioredis"],
  "mail/smtp": ["nodemailer"],
  uploads: ["busboy"],
  i18n: ["@fluent/bundle"],
  openapi: ["swagger-ui-dist"],
  "observe/otel": ["@opentelemetry/api", "@opentelemetry/exporter-trace-otlp-grpc"],
  // The parser of the command line, which no application loads.
  cli: ["commander", "oxc-transform"],
};

/** A folder with more files has subfolders. */
const MAX_FILES = 20;

/** The entry points of package.json: they export and do nothing else, and no room imports them. */
const ENTRIES = "entries";

/** Slots without a folder in `lib/stages`, and the reason. */
const SLOTS_WITHOUT_STAGE: Readonly<Partial<Record<Slot, string>>> = {
  layers: "holds the layers of the application",
  router: "is lib/routing",
};

/** The folder of a slot is its name in kebab-case, but for these. */
const FOLDERS: Readonly<Partial<Record<Slot, string>>> = { redirectMapper: "redirects" };

/** Stages whose contract is tried beside another stage. */
const CONTRACT_BESIDE: Readonly<Record<string, string>> = { "page-contracts": "pages" };

/** The only files that may form a cycle of types, group by group. Three groups are the limit. */
const TYPE_CYCLES: readonly (readonly string[])[] = [
  ["lib/app/application.ts", "lib/app/builder.ts"],
  ["lib/http/body/body-reader.ts", "lib/http/request/context.ts", "lib/http/koa/koa-faces.ts"],
  ["lib/http/request/exchange.ts", "lib/http/response/raw-response.ts", "lib/http/response/response-head.ts"],
];

const library = sourcesBelow("lib");
const allowed: Readonly<Record<string, readonly string[]>> = { ...ROOMS, ...FEATURES, ...TOOLS };
const nested = Object.keys(allowed).filter((room) => room.includes("/"));

/** The room of a file: the innermost one that has it. */
function roomOf(path: string): string {
  const inner = nested.find((room) => path.startsWith(`lib/${room}/`));
  return inner ?? path.split("/")[1] ?? "";
}

/** The imports of another room, each with that room. */
function crossings({ path, imports }: Source): readonly Crossing[] {
  return imports.flatMap(({ file, erased }) => {
    if (file === undefined || roomOf(file) === roomOf(path)) return [];
    return [{ file, room: roomOf(file), erased }];
  });
}

interface Crossing {
  readonly file: string;
  readonly room: string;
  readonly erased: boolean;
}

/** The rooms that a room reaches over any number of imports. An import that the compiler removes is no step. */
function roomsBelow(start: string): ReadonlySet<string> {
  const next = new Map(
    Object.entries(allowed).map(([room, others]) => [room, others.filter((other) => other !== ERASED[room])]),
  );
  return reachedFrom(start, next);
}

describe("the rooms", () => {
  it("hold every file of the library", () => {
    const outside = library.filter(({ path }) => !(roomOf(path) in allowed) && roomOf(path) !== ENTRIES);

    expect(library).to.have.property("length").above(0);
    expect(outside.map(({ path }) => path)).to.deep.equal([]);
  });

  it("exist", () => {
    const rooms = new Set(library.map(({ path }) => roomOf(path)));

    expect(Object.keys(allowed).filter((room) => !rooms.has(room))).to.deep.equal([]);
  });

  it("stand in CONTRIBUTING.md, those of the row in their order", () => {
    const page = textOf("CONTRIBUTING.md") ?? "";
    const described = [...page.matchAll(/^\| `lib\/([\w/-]+)` /gm)].map(([, room]) => room);

    expect(page).to.include(ROW.join(" → "));
    expect(described.slice(0, ROW.length)).to.deep.equal(ROW);
    expect(described).to.have.members(Object.keys(allowed));
  });

  it("of the row allow only rooms to their left, and features below them", () => {
    for (const [at, room] of ROW.entries()) {
      const right = ROW.slice(at + 1).filter((other) => allowed[room]?.includes(other));

      expect(
        right.filter((other) => other !== ERASED[room]),
        room,
      ).to.deep.equal([]);
    }
  });

  it("stand on floors: no room reaches itself over others", () => {
    expect(Object.keys(allowed).filter((room) => roomsBelow(room).has(room))).to.deep.equal([]);
  });

  it("pipeline and server import http and what is below it", () => {
    const below = [...roomsBelow("http"), "http"];

    for (const room of ["pipeline", "server"]) expect(below, room).to.include.members([...(allowed[room] ?? [])]);
  });

  it("import only the rooms of their list", () => {
    const wrong = breaches(library, (source) =>
      crossings(source)
        .filter(({ room }) => roomOf(source.path) !== ENTRIES && !(allowed[roomOf(source.path)] ?? []).includes(room))
        .map(({ file }) => `imports ${file}: move the shared part to a lower floor, or pass it as a value`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("have no room in their list that they do not import", () => {
    const used = new Set(
      library.flatMap((source) => crossings(source).map(({ room }) => `${roomOf(source.path)} > ${room}`)),
    );
    const listed = Object.entries({ ...ROOMS, ...FEATURES }).flatMap(([room, others]) =>
      others.map((other) => `${room} > ${other}`),
    );

    expect(listed.filter((pair) => !used.has(pair))).to.deep.equal([]);
  });

  it("let di import only the middleware contract of http", () => {
    const wrong = breaches(library, (source) =>
      crossings(source)
        .filter(({ file, room }) => roomOf(source.path) === "di" && room === "http" && file !== DI_NEEDS_OF_HTTP)
        .map(({ file }) => `imports ${file}: di needs only ${DI_NEEDS_OF_HTTP}`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("let endpoints name types of the context and of contents, and import nothing else of http", () => {
    const wrong = breaches(library, (source) =>
      crossings(source)
        .filter(({ room }) => roomOf(source.path) === "endpoints" && room === "http")
        .filter(({ file, erased }) => !erased || !TYPES_OF_HTTP.has(file))
        .map(({ file }) => `imports ${file}: a front end would load it`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("import optional packages only where the list names them", () => {
    const optional = Object.keys(manifest().peerDependencies ?? {});

    const wrong = breaches(library, ({ path, imports }) =>
      imports
        .map(({ from }) => packageOf(from))
        .filter(
          (name) => optional.includes(name) && roomOf(path) !== ENTRIES && !PACKAGES[roomOf(path)]?.includes(name),
        )
        .map((name) => `imports ${name}, an optional package: move the import to the folder of a driver`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("load optional packages by name only where the list names them", () => {
    const optional = Object.keys(manifest().peerDependencies ?? {});

    const wrong = breaches(library, ({ path, code }) =>
      [...code.matchAll(/\bname: "([^"]+)"/g)]
        .map(([, name = ""]) => name)
        .filter((name) => optional.includes(name) && !PACKAGES[roomOf(path)]?.includes(name))
        .map((name) => `loads ${name}, an optional package: move it to the folder of a driver`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("import only packages that package.json names for users", () => {
    const { dependencies, peerDependencies } = manifest();
    const named = [...Object.keys(dependencies), ...Object.keys(peerDependencies ?? {})];

    const wrong = breaches(library, ({ imports }) =>
      imports
        .filter(({ from, file }) => file === undefined && !from.startsWith("node:"))
        .filter(({ from }) => !named.includes(packageOf(from)))
        .map(({ from }) => `imports ${from}, which users do not install`),
    );

    expect(wrong).to.deep.equal([]);
  });
});

describe("the import of the library", () => {
  it("gets packages by require, in files in CommonJS, which costs less than an import", () => {
    const wrong = breaches(library, ({ path, imports }) =>
      imports
        .filter(({ from, file, erased }) => !erased && file === undefined && !from.startsWith("node:"))
        .filter(() => !path.endsWith(".cts") && PACKAGES[roomOf(path)] === undefined)
        .map(({ from }) => `imports ${from}: load it in a .cts file`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("takes the values of node:http from one file, because an import of the module loads undici", () => {
    const wrong = breaches(library, ({ imports }) =>
      imports
        .filter(({ from, erased }) => !erased && /^(?:node:)?https?$/.test(from))
        .map(({ from }) => `imports ${from}: take the value from lib/runtime/node-http.ts`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("does not load HTTP/2 of Node, which few applications need", () => {
    const wrong = breaches(library, ({ imports }) =>
      imports.filter(({ from, erased }) => !erased && from === "node:http2").map(() => "imports node:http2"),
    );

    expect(wrong).to.deep.equal([]);
  });
});

describe("a folder of the library", () => {
  it(`has at most ${MAX_FILES} files, or subfolders named after what happens in them`, () => {
    const counts = new Map<string, number>();
    for (const path of [...filesBelow("lib", ".ts"), ...filesBelow("lib", ".cts")]) {
      const folder = path.slice(0, path.lastIndexOf("/"));
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    // One file for each entry of package.json.
    counts.delete(`lib/${ENTRIES}`);

    expect([...counts].filter(([, files]) => files > MAX_FILES)).to.deep.equal([]);
  });
});

describe("the endpoints and the client", () => {
  it("and all that they load are without modules of Node, so that a front end may import them", () => {
    const next = new Map(
      library.map(({ path, imports }) => [path, imports.flatMap(({ file, erased }) => (erased ? [] : (file ?? [])))]),
    );
    const loaded = new Set(
      library
        .filter(({ path }) => ["endpoints", "client"].includes(roomOf(path)))
        .flatMap(({ path }) => [path, ...reachedFrom(path, next)]),
    );

    const wrong = breaches(
      library.filter(({ path }) => loaded.has(path)),
      ({ imports }) =>
        imports.filter(({ from, erased }) => !erased && /^[^.]/.test(from)).map(({ from }) => `imports ${from}`),
    );

    expect(loaded).to.have.property("size").above(5);
    expect(wrong).to.deep.equal([]);
  });
});

describe("the entry points", () => {
  const entries = library.filter(({ path }) => roomOf(path) === ENTRIES);

  it("are the files of lib/entries, one for each entry of package.json", () => {
    const named = Object.values(manifest().exports).flatMap((entry) =>
      typeof entry === "string" ? [] : [entry.default, entry.browser].map(toSource),
    );

    expect(entries.map(({ path }) => path)).to.have.members([...new Set(named)]);
  });

  it("hold nothing but exports from other files", () => {
    const wrong = breaches(entries, ({ code }) =>
      withoutExports(code).trim() === "" ? [] : ["holds more than exports"],
    );

    expect(wrong).to.deep.equal([]);
  });

  it("import nothing of the command, which applications do not load", () => {
    const wrong = breaches(entries, ({ imports }) =>
      imports.filter(({ file = "" }) => roomOf(file) === "cli").map(({ file }) => `imports ${file}`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("are imported by no other room", () => {
    const wrong = breaches(library, ({ path, imports }) =>
      imports
        .filter(({ file = "" }) => roomOf(file) === ENTRIES && roomOf(path) !== ENTRIES)
        .map(({ file }) => `imports ${file}: import the file that holds the name`),
    );

    expect(wrong).to.deep.equal([]);
  });
});

describe("the stages", () => {
  const numberOf = new Map(STAGES.map(({ slot, number }) => [folderOf(slot), number]));
  const stages = library.filter(({ path }) => roomOf(path) === "stages");

  it("have one file or folder for each slot", () => {
    const slots = STAGES.map(({ slot }) => slot).filter((slot) => !(slot in SLOTS_WITHOUT_STAGE));

    const folders = new Set(stages.map(({ path }) => stageOf(path)));

    expect([...folders]).to.have.members(slots.map(folderOf));
  });

  it("import only stages with a smaller number", () => {
    const wrong = breaches(stages, ({ path, imports }) =>
      imports
        .flatMap(({ file = "" }) => (roomOf(file) === "stages" && stageOf(file) !== stageOf(path) ? [file] : []))
        .filter((file) => (numberOf.get(stageOf(file)) ?? Infinity) >= (numberOf.get(stageOf(path)) ?? -Infinity))
        .map((file) => `imports ${file}, a stage with no smaller number: move the shared part to a room on the left`),
    );

    expect(wrong).to.deep.equal([]);
  });
});

describe("the specs of the stages", () => {
  it("run the contract of layers for each stage", () => {
    const contracts = sourcesBelow("spec/stages").filter(({ code }) => code.includes("obeysLayerContract("));
    const tried = new Set(contracts.map(({ path }) => path.split("/")[2]?.replace(/\.spec\.ts$/, "")));

    const stages = new Set(library.filter(({ path }) => roomOf(path) === "stages").map(({ path }) => stageOf(path)));

    expect([...stages].filter((stage) => !tried.has(CONTRACT_BESIDE[stage] ?? stage))).to.deep.equal([]);
  });
});

describe("cycles", () => {
  it("do not exist at run time", () => {
    expect(cyclesOf(library, ({ erased }) => !erased)).to.deep.equal([]);
  });

  it("of types stay inside a listed group of one room", () => {
    const unlisted = cyclesOf(library, () => true).filter(
      (cycle) => !TYPE_CYCLES.some((group) => cycle.every((path) => group.includes(path))),
    );

    expect(unlisted).to.deep.equal([]);
    expect(TYPE_CYCLES).to.have.property("length").most(3);
    for (const group of TYPE_CYCLES) expect(new Set(group.map(roomOf)).size, group.join(" ")).to.equal(1);
  });
});

/** The file name or folder name below `lib/stages`. */
function stageOf(path: string): string {
  return (path.split("/")[2] ?? "").replace(/\.ts$/, "");
}

function folderOf(slot: Slot): string {
  return FOLDERS[slot] ?? slot.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function withoutExports(code: string): string {
  return code.replaceAll(/^export (?:type )?(?:\*(?: as \w+)?|\{[^}]*\}) from "[^"]+";$/gm, "");
}

/** The groups of files that import each other, sorted; a file alone is not a group. */
function cyclesOf(
  sources: readonly Source[],
  counts: (one: Source["imports"][number]) => boolean,
): readonly (readonly string[])[] {
  const next = new Map(
    sources.map(({ path, imports }) => [path, imports.filter(counts).flatMap(({ file }) => file ?? [])]),
  );
  const reached = new Map([...next.keys()].map((path) => [path, reachedFrom(path, next)]));
  const groups = [...reached]
    .filter(([path, others]) => others.has(path))
    .map(([path, others]) => [...others].filter((other) => reached.get(other)?.has(path)).toSorted());
  return [...new Map(groups.map((group) => [group.join(), group])).values()];
}

/** The file itself is reached only by way of a cycle. */
function reachedFrom(start: string, next: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>();
  const waiting = [...(next.get(start) ?? [])];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    waiting.push(...(next.get(path) ?? []));
  }
  return reached;
}
