/** Mistakes with compilers and runners. */
import { IMPORTS, type Mistake } from "./mistake.js";

const ES_MODULES = `{ "type": "module" }`;
const COMMONJS = `{ "type": "commonjs" }`;
const OLDER = `{ "compilerOptions": { "experimentalDecorators": true, "target": "ES2022", "module": "NodeNext" } }`;

/** Whether this Node removes the types of a source; a decorator is still no JavaScript. */
const STRIPS_TYPES = "typescript" in process.features && process.features.typescript !== false;

/** The decorators of the framework, each in the shortest program that has it. */
const DECORATED: Readonly<Record<string, string>> = {
  '@Get("/")': `class Links { @Get("/") index() {} }`,
  "@Controller(…)": `@Controller() class Links {}`,
  "@Module({ … })": `@Module({}) class Links {}`,
  "@Injectable()": `@Injectable() class Links {}`,
  "@Middleware(…)": `class Links { @Middleware() index() {} }`,
  "@On(event)": `const index = event("index"); class Links { @On(index) index() {} }`,
  "@Handles(job)": `import { Handles, job } from "@stagecraft/framework/jobs"; const index = job("index"); class Links { @Handles(index) index() {} }`,
  "@Every(schedule)": `import { Every, schedule } from "@stagecraft/framework/jobs"; const index = schedule("index", "0 3 * * *"); class Links { @Every(index) index() {} }`,
};

const standardCalls = Object.entries(DECORATED).map(([decorator, program]): Mistake => {
  const isOfClass = program.startsWith("@");
  return {
    title: `${decorator} without a tsconfig.json, under tsx`,
    by: "tsx",
    files: { "package.json": ES_MODULES, "main.ts": IMPORTS + program },
    says: [
      `E_DECORATOR_KIND ${decorator} above ${isOfClass ? "Links" : "the method index"}`,
      "is called as a standard decorator",
      'fix: set "experimentalDecorators": true',
    ],
    lines: 1,
  };
});

export const TOOLS: readonly Mistake[] = [
  ...standardCalls,
  {
    title: "tsc without experimentalDecorators",
    settings: { experimentalDecorators: false, emitDecoratorMetadata: false },
    files: {
      "main.ts": `${IMPORTS}@Controller() class Links { @Get("/") index() {} }\n@Module({ controllers: [Links] }) class Shop {}\nawait Application.create(Shop).build().run();`,
    },
    says: [
      'E_DECORATOR_KIND @Get("/") above the method index',
      "is called as a standard decorator",
      '"experimentalDecorators": true',
    ],
    lines: 1,
  },
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
    says: ["E_TWO_COPIES Links was created with another copy of the framework", "file:", "install the package once"],
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
