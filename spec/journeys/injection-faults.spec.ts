/**
 * Every fault of `inject` with its message, in one program: with legacy and with standard decorators, by tsc and by tsx, and in bundles of
 * esbuild. A place in the program is shown as the text of its line.
 */
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { MistakeRuns } from "../support/mistake-runs.js";
import { ROOT, textOf } from "../support/sources.js";
import type { Mistake } from "./mistakes/mistake.js";

const PROGRAM = "spec/journeys/injection-faults/main.ts";
const LINES = (textOf(PROGRAM) ?? "").split("\n");

/** What the program prints for each fault, in this order. */
const MESSAGES: Readonly<Record<string, string>> = {
  "at module level":
    "E_INJECT_OUTSIDE inject(Store) is called at module level or in a static member, which belong to no container: " +
    "call it in the default of a constructor parameter or in a field of a class that a module lists" +
    " | «inject(Store);»",
  "in a function that a module calls":
    "E_INJECT_OUTSIDE inject(Store) is called in seed(), which a module calls while it loads, and no container calls: " +
    "call it in a constructor or a field of a class that a module lists, and pass the value to seed()" +
    " | «return inject(Store);»",
  "in a static member":
    "E_INJECT_OUTSIDE inject(Store) is called at module level or in a static member, which belong to no container: " +
    "call it in the default of a constructor parameter or in a field of a class that a module lists" +
    " | «static readonly store = inject(Store);»",
  "a missing token":
    "E_PROVIDER_MISSING nothing provides Missing | " +
    "NeedsMissing, call 1 of inject («constructor(readonly missing = inject(Missing)) {}»), in OfMissing | " +
    "add Missing, or a binding provide(Missing)…, to the providers of OfMissing, or import a module that exports it",
  "a hidden token":
    "E_PROVIDER_INVISIBLE Secret is not visible in OfSecret: Vault provides it, but does not export it | " +
    "NeedsSecret, call 1 of inject («readonly secret = inject(Secret);»), in OfSecret | add Secret to the exports of Vault",
  "a cycle":
    "E_PROVIDER_CYCLE providers need each other: First -> Second -> First | " +
    "Second, call 1 of inject («constructor(readonly first = inject(First)) {}»), in OfCycle | " +
    "move the shared part into another class, and inject that class into both",
  "the first of two in one class":
    "E_PROVIDER_MISSING nothing provides Missing | " +
    "Both, call 1 of inject («readonly missing = inject(Missing);»), in OfBoth | " +
    "add Missing, or a binding provide(Missing)…, to the providers of OfBoth, or import a module that exports it",
  "the second of two in one class":
    "E_PROVIDER_MISSING nothing provides Store | " +
    "Both, call 2 of inject («constructor(readonly store = inject(Store)) {}»), in OfBoth | " +
    "add Store, or a binding provide(Store)…, to the providers of OfBoth, or import a module that exports it",
  "a cycle of imports":
    "E_TOKEN_INVALID inject(undefined) cannot be resolved: undefined is neither a class nor a token | " +
    "NeedsLate, call 1 of inject («readonly late = inject(tokens.late);»), in OfLate | " +
    "inject a class, or the result of token<…>(…)",
  "an erased type":
    "E_METADATA_DROPPED Typed has a decorator, but the types of its constructor parameters are not known: " +
    "the tool that compiled it dropped the decorator metadata | constructor of Typed, in OfTyped | " +
    'set "emitDecoratorMetadata": true, which tsc and vitest on Vite 8 read, or "decoratorMetadata": true for swc; ' +
    "esbuild, tsx and Vite 7 have no such setting, and Node's own type stripping does not parse decorators; " +
    "or give each parameter a default, which needs no setting: store = inject(Store)",
  "in the asynchronous part of a factory":
    "E_FACTORY_PROMISE the factory of Opened returned a promise, and the container does not wait for promises | " +
    "factory of Opened, in OfFactory | return the object at once, and do the asynchronous work in Subsystem.start()",
  "another copy":
    "E_TWO_COPIES inject(Store) at «readonly store = copy.inject(Store);» is of another copy of the framework; " +
    "two are loaded: … and OTHER_COPY | constructor of OfCopy, in Root | " +
    "install the package once, which npm ls @stagecraft/framework shows, and load it in one way: " +
    'tsx and Jest load a second copy where CommonJS requires it, so set "type": "module" in package.json',
  "by new":
    "E_INJECT_OUTSIDE inject(Missing) is called because the program itself calls new Outer(): " +
    "let the container create Outer, pass the argument to new, or in a test call construct(Outer, …)" +
    " | «constructor(readonly missing = inject(Missing)) {}»",
  "after an await":
    "E_INJECT_OUTSIDE inject(Store) is called after an await or in a callback, when the container has left the constructor: " +
    "call it before, in the default of a constructor parameter or in a field, and use the value here" +
    " | «return inject(Store);»",
  "in a handler":
    "E_INJECT_OUTSIDE inject(Store) is called in a handler or another function that the framework calls: " +
    "call it in the constructor or a field of the class, and use the field here" +
    ' | «attempt("in a handler", () => inject(Store));»',
};

/** The messages where tsc emits the types of parameters. */
const WITH_TYPES = {
  "an erased type":
    "E_TYPE_ERASED constructor parameter 1 of Typed cannot be injected: " +
    "its type is Object at run time, as for an interface, a union, unknown, or a class that was not loaded yet | " +
    "Typed, constructor parameter 1 (named), in OfTyped | " +
    "import the class, not its type; instead of an interface inject an abstract class, or use @Inject(token<…>(…))",
};

/** The messages for standard decorators. @param name of a parameter, which a minifier changes */
function ofStandard(name = "named"): Readonly<Record<string, string>> {
  return {
    "an erased type":
      "E_TYPE_ERASED constructor parameter 1 of Typed cannot be injected: standard decorators keep no types of parameters | " +
      `Typed, constructor parameter 1 (${name}), in OfTyped | ` +
      'give it a default: store = inject(Store); or set "experimentalDecorators" and "emitDecoratorMetadata" for tsc',
  };
}

const WITHOUT_CONSTRUCTOR =
  "E_INJECT_OUTSIDE inject(Store) is called where the container runs no constructor: at module level or in a static member, in a handler, " +
  "after an await or in a callback, or in a class that the program itself creates with new: call it in the default of a constructor " +
  "parameter or in a field of a class that a module lists, and in a test call construct(P, …) in place of new P()";

/** In a bundle, the frames of the framework cannot be told from those of the program. */
const IN_BUNDLE = {
  "after an await": `${WITHOUT_CONSTRUCTOR} | «return inject(Store);»`,
  "in a handler": `${WITHOUT_CONSTRUCTOR} | «attempt("in a handler", () => inject(Store));»`,
};

interface Style {
  readonly program: Mistake;
  /** The messages that differ from `MESSAGES`. */
  readonly messages: Readonly<Record<string, string>>;
}

function style(title: string, options: Partial<Mistake>, messages: Style["messages"] = {}): Style {
  const files = {
    "package.json": `{ "type": "module" }`,
    "main.ts": LINES.join("\n"),
    "tokens.ts": textOf("spec/journeys/injection-faults/tokens.ts") ?? "",
    ...options.files,
  };
  const settings = { sourceMap: true, ...options.settings };
  const env = { NODE_OPTIONS: `${process.env["NODE_OPTIONS"] ?? ""} --enable-source-maps` };
  return { program: { title, says: ["", "", ""], env, ...options, settings, files }, messages };
}

const LEGACY = { "tsconfig.json": `{ "compilerOptions": { "experimentalDecorators": true } }` };
const STANDARD = { experimentalDecorators: false, emitDecoratorMetadata: false };
const MAPPED = { sourcemap: "inline" } as const;
const ESM = { format: "esm", ...MAPPED } as const;
const COMMONJS = { format: "cjs", ...MAPPED } as const;

const STYLES: readonly Style[] = [
  style("legacy decorators with types by tsc", {}, WITH_TYPES),
  style("legacy decorators by tsc", { settings: { emitDecoratorMetadata: false } }),
  style("legacy decorators by tsx", { by: "tsx", files: LEGACY }),
  style("standard decorators by tsc", { settings: STANDARD }, ofStandard()),
  style("standard decorators by tsx", { by: "tsx" }, ofStandard()),
  style("legacy decorators in a bundle of ES modules", { files: LEGACY, bundle: ESM }, IN_BUNDLE),
  style("standard decorators in a bundle in CommonJS", { bundle: COMMONJS }, { ...IN_BUNDLE, ...ofStandard() }),
  style(
    "standard decorators in a minified bundle of ES modules",
    { bundle: { ...ESM, minify: true } },
    { ...IN_BUNDLE, ...ofStandard("a letter") },
  ),
  style(
    "legacy decorators in a minified bundle in CommonJS",
    { files: LEGACY, bundle: { ...COMMONJS, minify: true } },
    IN_BUNDLE,
  ),
];

/** The package with the other packages beside it. */
function copyPackage(folder: string): string {
  cpSync(join(ROOT, "dist/lib"), join(folder, "dist/lib"), { recursive: true });
  cpSync(join(ROOT, "package.json"), join(folder, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"), "junction");
  return pathToFileURL(join(folder, "dist/lib/entries/main.js")).href;
}

/** The lines of the program with the text of the line in the place of each place in it. */
function listFaults(output: string): readonly string[] {
  const places = /[^( ]*main\.ts:(\d+):\d+/g;
  return output
    .replaceAll(places, (_, line: string) => `«${LINES[Number(line) - 1]?.trim() ?? ""}»`)
    .replace(/(?<=parameter 1 \()\w(?=\))/, "a letter")
    .replace(/(two are loaded:) \S+ and/, "$1 … and")
    .trimEnd()
    .split("\n");
}

describe("a fault of inject", function () {
  this.timeout(120_000);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "copy-")));
  const copy = copyPackage(folder);
  let runs: MistakeRuns;

  before(async () => {
    runs = await MistakeRuns.prepare(STYLES.map(({ program }) => program));
  });

  after(() => {
    runs[Symbol.dispose]();
    rmSync(folder, { recursive: true });
  });

  for (const { program, messages } of STYLES) {
    it(`is named with its place and its cure: ${program.title}`, async () => {
      const { output } = await runs.run({ ...program, env: { ...program.env, OTHER_COPY: copy } });

      const shown = output.replace(`${pathToFileURL(folder).href}/dist/`, "OTHER_COPY");
      const expected = Object.entries({ ...MESSAGES, ...messages }).map((row) => row.join(": "));
      expect(listFaults(shown)).to.deep.equal(expected);
    });
  }

  it("has the line of the bundle, without source maps", async () => {
    const { program } = style("without source maps", { bundle: { format: "esm", minify: true } });
    using plain = await MistakeRuns.prepare([program]);

    const { output } = await plain.run({ ...program, env: { OTHER_COPY: copy } });

    const [, number = "", file = "", line = "", column = ""] =
      /Both, call (2) of inject \((file:.*main\.mjs):(\d+):(\d+)\), in OfBoth/.exec(output) ?? [];
    const text = readFileSync(new URL(file), "utf8").split("\n")[Number(line) - 1] ?? "";
    expect(number).to.equal("2");
    expect(text.slice(Number(column) - 1)).to.match(/^[\w$]+\([\w$]+\)\)\{/);
  });
});
