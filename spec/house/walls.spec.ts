/**
 * The walls between the rooms: one order, read from one array, holds the import rule. Each check names what breaks it and what to do
 * instead.
 */

import { expect } from "chai";
import { manifest, packageOf, type Source, sourcesBelow, withoutComments } from "../support/sources.js";

/** A room may import rooms to its left. */
const ROOMS = [
  "runtime",
  "errors",
  "tracing",
  "kernel",
  "http",
  "di",
  "subsystems",
  "lifecycle",
  "edge",
  "observe",
  "admission",
  "routing",
  "stages",
  "pipeline",
  "server",
  "app",
];

/** Imported by nobody inside, only by their own entry points. */
const LEAVES = ["otel", "drivers", "redis", "testing", "cli"];

/** What package.json exports: exports only, imported by no file of the library. */
const FACES = "entries";

const library = sourcesBelow("lib");
const roomOf = (path: string): string => path.split("/")[1] ?? "";
const isFace = (path: string): boolean => roomOf(path) === FACES;

/** One line per breach, so that a failure reads as a list of what to change. */
function breaches(
  find: (source: Source) => readonly string[],
  sources: readonly Source[] = library,
): readonly string[] {
  return sources.flatMap((source) => find(source).map((what) => `${source.path} ${what}`));
}

describe("walls", () => {
  it("stand around every file of the library", () => {
    const outside = library.filter(({ path }) => !isFace(path) && ![...ROOMS, ...LEAVES].includes(roomOf(path)));

    expect(library).to.have.property("length").above(0);
    expect(outside.map(({ path }) => path)).to.deep.equal([]);
  });

  it("let a room import only rooms to its left", () => {
    const wrong = breaches(({ path, imports }) =>
      imports
        .filter(({ file }) => file !== undefined && ROOMS.includes(roomOf(path)))
        .filter(({ file = "" }) => ROOMS.indexOf(roomOf(file)) > ROOMS.indexOf(roomOf(path)))
        .map(
          ({ file }) => `imports ${file}, a room further in: move what is shared to the left, or pass it in as a value`,
        ),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("keep the leaves out of everything but themselves", () => {
    const wrong = breaches(({ path, imports }) =>
      imports
        .filter(({ file = "" }) => LEAVES.includes(roomOf(file)) && roomOf(file) !== roomOf(path) && !isFace(path))
        .map(({ file }) => `imports the leaf ${file}: only its own entry point may`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("keep optional packages in the leaves", () => {
    const optional = Object.keys(manifest().peerDependencies ?? {});

    const wrong = breaches(({ path, imports }) =>
      imports
        .filter(({ from, erased }) => !erased && optional.includes(packageOf(from)) && !LEAVES.includes(roomOf(path)))
        .map(({ from }) => `imports ${from}, which may be missing: move it to drivers/ or otel/`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("use only packages that package.json names for users", () => {
    const { dependencies, peerDependencies } = manifest();
    const named = [...Object.keys(dependencies), ...Object.keys(peerDependencies ?? {})];

    const wrong = breaches(({ imports }) =>
      imports
        .filter(({ from, file }) => file === undefined && !from.startsWith("node:"))
        .filter(({ from }) => !named.includes(packageOf(from)))
        .map(({ from }) => `imports ${from}, which users do not get`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("have a barrel only where package.json exports it, and nothing inside imports one", () => {
    const entries = Object.values(manifest().exports).map((entry) =>
      typeof entry === "string" ? entry : entry.default,
    );
    const exported = new Set(entries.map((entry) => entry.replace("./dist/", "").replace(/\.js$/, ".ts")));

    const barrels = library.filter(({ path }) => path.endsWith("/index.ts") && !exported.has(path));
    const through = breaches(({ imports }) =>
      imports
        .filter(({ file = "" }) => file.endsWith("/index.ts"))
        .map(({ file }) => `imports ${file}: import the file that holds the name`),
    );

    expect(barrels.map(({ path }) => path)).to.deep.equal([]);
    expect(through).to.deep.equal([]);
  });

  it("know no default export", () => {
    const wrong = breaches(({ text }) =>
      /^export default|\bas default\b/m.test(withoutComments(text)) ? ["has one"] : [],
    );

    expect(wrong).to.deep.equal([]);
  });

  it("hold no cycle of files at run time", () => {
    const cycles = cyclesOf(library, ({ erased }) => !erased);

    expect(cycles).to.deep.equal([]);
  });

  it("hold no cycle of types but between two files of one room", () => {
    const wide = cyclesOf(library, () => true).filter((cycle) => {
      const files = cycle.split(" → ");
      return files.length > 3 || new Set(files.map(roomOf)).size > 1;
    });

    expect(wide).to.deep.equal([]);
  });
});

describe("files", () => {
  const shown = [...library, ...sourcesBelow("samples")];

  it("are at most 400 lines long", () => {
    const long = breaches(({ text }) => (text.split("\n").length > 401 ? ["asks for a second room"] : []), shown);

    expect(long).to.deep.equal([]);
  });

  it("open with what they are", () => {
    const concepts = library.filter(({ path }) => !path.endsWith("/index.ts") || isFace(path));

    const mute = breaches(({ text }) => (text.startsWith("/**") ? [] : ["does not open with a comment"]), concepts);

    expect(mute).to.deep.equal([]);
  });

  it("have names in kebab-case that say what they hold", () => {
    const wrong = breaches(({ path }) => {
      const name = path.split("/").at(-1) ?? "";
      const vague = /^(utils?|helpers?|common|misc|shared|types)\.|\.service\./.test(name);
      return /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*\.ts$/.test(name) && !vague ? [] : ["is no name for a concept"];
    }, shown);

    expect(wrong).to.deep.equal([]);
  });

  it("tell what they have to tell under a target that says whose it is", () => {
    const wrong = breaches(({ text }) =>
      [...withoutComments(text).matchAll(/\btracing\.target\("(.*?)"\)/g)]
        .filter(([, target = ""]) => !/^framework(::[a-z_]+)+$/.test(target))
        .map(([call]) => `has ${call}: write framework::<area>::<part>`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("never make code from text", () => {
    const wrong = breaches(({ text }) => (/\beval\(|new Function\(/.test(withoutComments(text)) ? ["does"] : []));

    expect(wrong).to.deep.equal([]);
  });
});

describe("spec titles", () => {
  it("are statements in the present", () => {
    const wrong = breaches(
      ({ text }) =>
        [...text.matchAll(/\b(?:it|describe)\(\s*["'`](.*?\bshould\b.*?)["'`],/gi)].map(
          ([, title]) => `says "${title}"`,
        ),
      sourcesBelow("spec"),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("belong to files that mocha finds", () => {
    const lost = breaches(
      ({ path, text }) => (/^describe\(/m.test(text) && !path.endsWith(".spec.ts") ? ["describes and is not run"] : []),
      sourcesBelow("spec"),
    );

    expect(lost).to.deep.equal([]);
  });
});

/** Every cycle once, as `a → b → a`, following the imports that count. */
function cyclesOf(sources: readonly Source[], counts: (one: Source["imports"][number]) => boolean): readonly string[] {
  const next = new Map(
    sources.map(({ path, imports }) => [path, imports.filter(counts).flatMap(({ file }) => file ?? [])]),
  );
  const done = new Set<string>();
  const cycles: string[] = [];
  const walk = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push([...trail.slice(start), path].join(" → "));
    if (start >= 0 || done.has(path)) return;
    for (const file of next.get(path) ?? []) walk(file, [...trail, path]);
    done.add(path);
  };
  for (const path of next.keys()) walk(path, []);
  return cycles;
}
