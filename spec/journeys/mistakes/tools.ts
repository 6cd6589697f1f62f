/** Mistakes with compilers and runners. */
import { IMPORTS, type Mistake } from "./mistake.js";

const ES_MODULES = `{ "type": "module" }`;
const COMMONJS = `{ "type": "commonjs" }`;
const OLDER = `{ "compilerOptions": { "experimentalDecorators": true, "target": "ES2022", "module": "NodeNext" } }`;

/** Whether this Node removes the types of a source; a decorator is still no JavaScript. */
const STRIPS_TYPES = "typescript" in process.features && process.features.typescript !== false;

/** Decorators of the framework above members of another kind, which only a standard call tells. */
const MISPLACED: Readonly<Record<string, readonly [place: string, program: string]>> = {
  '@Get("/")': ["field index", `class Links { @Get("/") index = 1; }`],
  '@Get("/private")': ["private method #index", `class Links { @Get("/private") #index() {} }`],
  "@Middleware(…)": ["getter index", `class Links { @Middleware() get index() { return 1; } }`],
  "@On(event)": ["accessor index", `const index = event("index"); class Links { @On(index) accessor index = 1; }`],
  "@Handles(job)": [
    "class Links",
    `import { Handles, job } from "@stagecraft/framework/jobs"; const index = job("index"); @Handles(index) class Links {}`,
  ],
  "@Every(schedule)": [
    "setter index",
    `import { Every, schedule } from "@stagecraft/framework/jobs"; const index = schedule("index", "0 3 * * *"); class Links { @Every(index) set index(_) {} }`,
  ],
  "@Controller(…)": ["method index", `class Links { @Controller() index() {} }`],
  "@Module({ … })": ["method index", `class Links { @Module({}) index() {} }`],
  "@Injectable()": ["method index", `class Links { @Injectable() index() {} }`],
};

const misplaced = Object.entries(MISPLACED).map(([decorator, [place, program]]): Mistake => {
  const isOfClass = ["@Controller", "@Module", "@Injectable"].some((each) => decorator.startsWith(each));
  return {
    title: `${decorator} above a ${place.split(" ", 1).join("")}, as a standard decorator`,
    by: "tsx",
    files: { "package.json": ES_MODULES, "main.ts": IMPORTS + program },
    says: [
      `E_DECORATOR_KIND ${decorator} stands above the ${place}`,
      "it belongs above",
      isOfClass ? "class" : "method",
    ],
    lines: 1,
  };
});

const REPLACING = `function logged(method: () => unknown, _: unknown) { return function (this: unknown) { return method.call(this); }; }\n`;

const WRAPPING = `function traced(of: { readonly prototype: object }, _: unknown) { const { hear } = of.prototype as any; (of.prototype as any).hear = function () { return hear.call(this); }; }\n`;

/** Faults of programs with standard decorators, by each compiler. */
const STANDARD: readonly Omit<Mistake, "by" | "settings">[] = [
  {
    title: "a constructor parameter that has no default",
    files: {
      "main.ts": `${IMPORTS}class Store {}\n@Controller() class Links { constructor(readonly store: Store) {} @Get("/") index() {} }\n@Module({ controllers: [Links], providers: [Store] }) class Shop {}\nApplication.create(Shop).build();`,
    },
    says: [
      "E_TYPE_ERASED constructor parameter 1 of Links cannot be injected: standard decorators keep no types of parameters",
      "at Links, constructor parameter 1 (store), in Shop",
      "fix: give it a default: store = inject(Store)",
    ],
  },
  {
    title: "a constructor parameter in a class whose methods alone have decorators",
    files: {
      "main.ts": `${IMPORTS}class Store {}\nconst shown = event("shown");\nclass Announcer { constructor(readonly store: Store) {} @On(shown) hear() {} }\n@Module({ providers: [Announcer, Store] }) class Shop {}\nApplication.create(Shop).build();`,
    },
    says: [
      "E_TYPE_ERASED constructor parameter 1 of Announcer cannot be injected: standard decorators keep no types of parameters",
      "at Announcer, constructor parameter 1 (store), in Shop",
      "fix: give it a default: store = inject(Store)",
    ],
  },
  {
    title: "@Inject above a field",
    files: { "main.ts": `${IMPORTS}class Store {}\n@Injectable() class Links { @Inject(Store) store; }` },
    says: ["E_INJECT_PLACE @Inject stands above the field store", "write inject(Token)", "the value of a field"],
    lines: 1,
  },
  {
    title: "a decorator above ours that replaces the method",
    files: {
      "main.ts": `${IMPORTS}${REPLACING}@Controller() class Links { @logged @Get("/") index() { return ""; } }\n@Module({ controllers: [Links] }) class Shop {}\nApplication.create(Shop).build();`,
    },
    says: [
      'E_DECORATOR_ORDER Links could not be built: @Get("/") has no effect',
      "a decorator above it, or one of the class below @Controller or @Injectable(), replaces the method index",
      'write @Get("/") above the former',
    ],
  },
  {
    title: "a decorator of the class below ours that wraps its methods",
    files: {
      "main.ts": `${IMPORTS}const shown = event("shown");\n${WRAPPING}@Injectable() @traced class Announcer { @On(shown) hear() {} }\n@Module({ providers: [Announcer] }) class Shop {}\nApplication.create(Shop).build();`,
    },
    says: [
      "E_DECORATOR_ORDER Announcer could not be built: @On(event) has no effect",
      "or one of the class below @Controller or @Injectable(), replaces the method hear",
      "and @Controller or @Injectable() nearest to the class, below its other decorators",
    ],
  },
  {
    title: "an assignment to the prototype of a class that has no decorator",
    files: {
      "main.ts": `${IMPORTS}const shown = event("shown");\nclass Announcer { @On(shown) hear() {} }\nAnnouncer.prototype.hear = () => {};\n@Module({ providers: [Announcer] }) class Shop {}\nApplication.create(Shop).build();`,
    },
    says: [
      "E_DECORATOR_ORDER Announcer could not be built: @On(event) has no effect",
      "or an assignment to the prototype, replaces the method hear",
      "and @Controller or @Injectable() nearest to the class",
    ],
  },
  {
    title: "@On above a static method",
    files: { "main.ts": `${IMPORTS}const shown = event("shown");\nclass Links { @On(shown) static hear() {} }` },
    says: ["E_DECORATOR_KIND @On(event) stands above the static method hear", "it belongs above", "instance method"],
    lines: 1,
  },
  {
    title: "an endpoint above a static method",
    files: {
      "main.ts": `${IMPORTS}@Controller() class Links { @Get("/") static index() {} }\n@Module({ controllers: [Links] }) class Shop {}\nApplication.create(Shop).build();`,
    },
    says: ['E_DECORATOR_KIND @Get("/")', "the static method index", "a public instance method"],
    lines: 1,
  },
  {
    title: "a listener that no module lists",
    files: {
      "main.ts": `${IMPORTS}const shown = event("shown");\nclass Announcer { @On(shown) hear() {} }\n@Module({}) class Shop {}\nawait Application.create(Shop).build().run();`,
    },
    says: ["a class has @On and no module lists it", "hear()", "list the class under providers"],
    serves: true,
  },
];

const standard = STANDARD.flatMap((each): Mistake[] => [
  {
    ...each,
    title: `${each.title}, as standard decorators by tsx`,
    by: "tsx",
    files: { "package.json": ES_MODULES, ...each.files },
  },
  {
    ...each,
    title: `${each.title}, as standard decorators by tsc`,
    settings: { experimentalDecorators: false, emitDecoratorMetadata: false },
  },
]);

export const TOOLS: readonly Mistake[] = [
  ...misplaced,
  ...standard,
  {
    title: "tsc without emitDecoratorMetadata",
    settings: { emitDecoratorMetadata: false },
    files: {
      "main.ts": `${IMPORTS}class Store {}\n@Injectable() class Links { constructor(readonly store: Store) {} }\n@Module({ providers: [Store, Links] }) class Shop {}\nawait Application.create(Shop).build().run();`,
    },
    says: ["E_METADATA_DROPPED Links has a decorator", "at constructor of Links", '"emitDecoratorMetadata": true'],
  },
  {
    title: "constructor parameters under tsx, which keeps no types",
    by: "tsx",
    files: {
      "package.json": ES_MODULES,
      "tsconfig.json": OLDER,
      "main.ts": `${IMPORTS}class Store {}\n@Injectable() class Links { constructor(readonly store: Store) {} }\n@Module({ providers: [Store, Links] }) class Shop {}\nawait Application.create(Shop).build().run();`,
    },
    says: [
      "E_METADATA_DROPPED Links has a decorator",
      "dropped the decorator metadata",
      "esbuild, tsx and Vite 7 have no such setting",
    ],
  },
  {
    title: "two copies of the package",
    by: "tsx",
    files: {
      "package.json": COMMONJS,
      "tsconfig.json": OLDER,
      "links.mts": `import { Controller, Get } from "@stagecraft/framework";\n@Controller() export class Links { @Get("/") index() { return ""; } }`,
      "main.ts": `${IMPORTS}void import("./links.mjs").then(({ Links }) => { @Module({ controllers: [Links] }) class Shop {} Application.create(Shop).build(); });`,
    },
    says: [
      "E_TWO_COPIES a decorator above Links is of another copy of the framework",
      "both from file:",
      "install the package once",
    ],
  },
  {
    title: "a top-level await in a CommonJS project, under tsx",
    by: "tsx",
    files: {
      "package.json": COMMONJS,
      "tsconfig.json": OLDER,
      "main.ts": `${IMPORTS}@Module() class Shop {}\nawait Application.create(Shop).build().run();`,
    },
    says: ['Top-level await is currently not supported with the "cjs" output format', "", ""],
    isExplained: true,
  },
  {
    title: "run() of the builder, without build()",
    files: {
      "main.ts": `${IMPORTS}@Module() class Shop {}\nawait (Application.create(Shop) as never as { run(): Promise<void> }).run();`,
    },
    says: ["run is not a function", "main.", ""],
    isExplained: true,
  },
  {
    title: "an import of a file without .js",
    files: { "main.ts": `import { x } from "./other";\nconsole.log(x);`, "other.ts": "export const x = 1;" },
    says: ["ERR_MODULE_NOT_FOUND", "other", ""],
    isExplained: true,
  },
  {
    title: "an import of a file without .js, for the compiler",
    by: "tsc",
    files: { "main.ts": `import { x } from "./other";\nconsole.log(x);`, "other.ts": "export const x = 1;" },
    says: ["Relative import paths need explicit file extensions", "'nodenext'", "Did you mean './other.js'?"],
    isExplained: true,
  },
  {
    title: "a source that Node runs without a build",
    files: {
      "main.ts": `import { spawnSync } from "node:child_process";\nimport { writeFileSync } from "node:fs";\nconst file = new URL("written.ts", import.meta.url);\nwriteFileSync(file, "@decorated class Links {}");\nconst { stderr } = spawnSync(process.execPath, [file.pathname], { encoding: "utf8" });\nconsole.error(stderr);\nprocess.exit(1);`,
    },
    says: [STRIPS_TYPES ? "SyntaxError: Invalid or unexpected token" : 'Unknown file extension ".ts"', "", ""],
    isExplained: true,
  },
  {
    title: "ES modules in a project without a type",
    files: {
      "main.ts": `import { spawnSync } from "node:child_process";\nimport { mkdirSync, writeFileSync } from "node:fs";\nconst folder = new URL("cjs/", import.meta.url);\nmkdirSync(folder, { recursive: true });\nwriteFileSync(new URL("package.json", folder), '{ "type": "commonjs" }');\nwriteFileSync(new URL("written.js", folder), 'import { x } from "./x.js";');\nconst { stderr } = spawnSync(process.execPath, [new URL("written.js", folder).pathname], { encoding: "utf8" });\nconsole.error(stderr);\nprocess.exit(1);`,
    },
    says: ["Cannot use import statement outside a module", "", ""],
    isExplained: true,
  },
];
