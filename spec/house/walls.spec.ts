/**
 * The walls between the rooms of `lib/`: which room imports which, which stage imports which, and where a cycle of types is allowed.
 * Each failure names the import that breaks the rule and the fix. Rules about a single file are in files.spec.ts.
 */

import { expect } from "chai";
import { STAGES, type Slot } from "../../lib/pipeline/table.js";
import { breaches, manifest, packageOf, type Source, sourcesBelow, textOf } from "../support/sources.js";

/** The rooms in their order, each with the rooms that it may import. All of them stand to its left. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  runtime: [],
  errors: [],
  tracing: ["errors"],
  http: ["runtime", "errors", "tracing"],
  // Of http only the middleware contract: see DI_NEEDS_OF_HTTP.
  di: ["errors", "http"],
  // Of http the answer of a download: `Reply`, conditions, disposition.
  lifecycle: ["runtime", "errors", "tracing", "http"],
  observe: ["runtime", "errors", "tracing", "http"],
  routing: ["errors", "http", "di"],
  // Of http only the interface of schemas, of routing only the class chain of a decorated method.
  events: ["runtime", "errors", "tracing", "http", "di", "lifecycle", "routing"],
  stages: ["runtime", "errors", "tracing", "http", "di", "lifecycle", "observe", "routing"],
  pipeline: ["runtime", "errors", "tracing", "http"],
  server: ["runtime", "errors", "tracing", "http"],
  app: [
    "runtime",
    "errors",
    "tracing",
    "http",
    "di",
    "lifecycle",
    "observe",
    "routing",
    "events",
    "stages",
    "pipeline",
    "server",
  ],
};

const DI_NEEDS_OF_HTTP = "lib/http/middleware.ts";

/**
 * Rooms with an entry point of their own. Of all other rooms only these import them: drivers and stores the room of their port, `mail` the
 * jobs of queued mails, and `testing` the ports whose contracts it tests.
 */
const LEAVES: Readonly<Record<string, readonly string[]>> = {
  uploads: ["runtime", "errors", "tracing", "http", "lifecycle"],
  otel: ["runtime", "errors", "tracing", "lifecycle", "observe"],
  // Of http only the interface of schemas.
  cache: ["runtime", "errors", "http", "lifecycle"],
  db: ["runtime", "errors", "tracing", "lifecycle"],
  mysql: ["runtime", "errors", "lifecycle", "db"],
  postgres: ["runtime", "errors", "lifecycle", "db"],
  sqlite: ["runtime", "errors", "lifecycle", "db"],
  redis: ["runtime", "errors", "tracing", "lifecycle", "stages"],
  // The store of sessions in a database of the application.
  "session-db": ["errors", "tracing", "lifecycle", "stages", "db"],
  storage: ["runtime", "errors", "tracing", "lifecycle"],
  // Of di the type of classes, of http the context and the replies of the preview page.
  mail: ["runtime", "errors", "tracing", "http", "di", "lifecycle", "routing", "jobs"],
  // Of di and routing only the types and checks of decorators, of events the queue of their listeners.
  jobs: ["runtime", "errors", "tracing", "http", "di", "lifecycle", "observe", "routing", "events"],
  // Of redis only the rules of a connection.
  bullmq: ["runtime", "errors", "tracing", "lifecycle", "jobs", "redis"],
  // The contracts of a mailer and of a queue make mails and jobs.
  testing: [...Object.keys(ROOMS), "mail", "jobs"],
};

/** The entry points of package.json: they export and do nothing else, and no room imports them. */
const FACES = "entries";

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
const roomOf = (path: string): string => path.split("/")[1] ?? "";
const allowed: Readonly<Record<string, readonly string[]>> = { ...ROOMS, ...LEAVES };

/** The imports of another room, each with that room. */
function crossings({ path, imports }: Source): readonly { readonly file: string; readonly room: string }[] {
  return imports.flatMap(({ file }) => {
    if (file === undefined || roomOf(file) === roomOf(path)) return [];
    return [{ file, room: roomOf(file) }];
  });
}

describe("the rooms", () => {
  it("hold every file of the library", () => {
    const outside = library.filter(({ path }) => !(roomOf(path) in allowed) && roomOf(path) !== FACES);

    expect(library).to.have.property("length").above(0);
    expect(outside.map(({ path }) => path)).to.deep.equal([]);
  });

  it("exist", () => {
    const rooms = new Set(library.map(({ path }) => roomOf(path)));

    expect(Object.keys(allowed).filter((room) => !rooms.has(room))).to.deep.equal([]);
  });

  it("stand in CONTRIBUTING.md, in their order, and the leaves beside them", () => {
    const page = textOf("CONTRIBUTING.md") ?? "";
    const described = [...page.matchAll(/^\| `(\w+)` /gm)].map(([, room]) => room);

    expect(page).to.include(`\`${Object.keys(ROOMS).join(" → ")}\``);
    expect(described).to.deep.equal(Object.keys(ROOMS));
    for (const leaf of Object.keys(LEAVES)) expect(page).to.include(`\`lib/${leaf}\``);
  });

  it("allow only rooms to their left", () => {
    const order = Object.keys(ROOMS);

    for (const [room, others] of Object.entries(ROOMS))
      expect(order.slice(0, order.indexOf(room)), room).to.include.members([...others]);
  });

  it("import only the rooms of their list", () => {
    const wrong = breaches(library, (source) =>
      crossings(source)
        .filter(({ room }) => roomOf(source.path) !== FACES && !(allowed[roomOf(source.path)] ?? []).includes(room))
        .map(({ file }) => `imports ${file}: move the shared part to the left, or pass it as a value`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("let di import only the middleware contract of http", () => {
    const wrong = breaches(library, (source) =>
      crossings(source)
        .filter(({ file, room }) => roomOf(source.path) === "di" && room === "http" && file !== DI_NEEDS_OF_HTTP)
        .map(({ file }) => `imports ${file}: di needs only ${DI_NEEDS_OF_HTTP}`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("import optional packages only in the leaves", () => {
    const optional = Object.keys(manifest().peerDependencies ?? {});

    const wrong = breaches(library, ({ path, imports }) =>
      imports
        .filter(({ from, erased }) => !erased && optional.includes(packageOf(from)) && !(roomOf(path) in LEAVES))
        .map(({ from }) => `imports ${from}, an optional package: move the import to a leaf`),
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
        .filter(() => !path.endsWith(".cts") && !(roomOf(path) in LEAVES))
        .map(({ from }) => `imports ${from}: load it in a .cts file`),
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

describe("the entry points", () => {
  const faces = library.filter(({ path }) => roomOf(path) === FACES);

  it("are the files of lib/entries, one for each entry of package.json", () => {
    const named = Object.values(manifest().exports).flatMap((entry) =>
      typeof entry === "string" ? [] : [entry.default.replace("./dist/", "").replace(/\.js$/, ".ts")],
    );

    expect(faces.map(({ path }) => path)).to.have.members(named);
  });

  it("hold nothing but exports from other files", () => {
    const wrong = breaches(faces, ({ code }) =>
      withoutExports(code).trim() === "" ? [] : ["holds more than exports"],
    );

    expect(wrong).to.deep.equal([]);
  });

  it("are imported by no other room", () => {
    const wrong = breaches(library, ({ path, imports }) =>
      imports
        .filter(({ file = "" }) => roomOf(file) === FACES && roomOf(path) !== FACES)
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

  it("that are not built yet have their numbers in the readme", () => {
    const missing = STAGES.filter(({ slot }) => SLOTS_WITHOUT_STAGE[slot] === "not built yet");

    const [, sentence = ""] = /^(Slots? .*) no layer yet\.$/m.exec(textOf("README.md") ?? "") ?? [];
    const named = [...sentence.matchAll(/(\d+)(?: to (\d+))?/g)].map(([, first, last = first]) => [first, last]);
    const isNamed = (number: number) =>
      named.some(([first, last]) => number >= Number(first) && number <= Number(last));

    expect(STAGES.filter(({ number }) => isNamed(number))).to.deep.equal(missing);
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
