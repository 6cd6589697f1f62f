/** Rules for a single file: its length, its name, its first comment, the targets of its events, and the titles of specs. */

import { expect } from "chai";
import { createRequire } from "node:module";
import { breaches, sourcesBelow, textOf, toSource } from "../support/sources.js";

const MAX_LINES = 330;
const FEWEST_LINES = 40;

/** Small files with one importer, each with the reason why it is not a part of that importer. */
const SMALL: Readonly<Record<string, string>> = {
  "lib/stages/page-contracts.ts": "each slot has a file of its own",
  "lib/stages/pages/protocol/form-errors.ts": "the layer of the pages would know the flash",
  "lib/db/drivers/mysql/mysql-package.ts": "each optional package is loaded by a file of its own",
  "lib/db/transactions/after-commit.ts": "an event of its own, with its target",
  "lib/jobs/queued-listeners.ts": "the only part of the jobs that knows events",
  "lib/jobs/stores/database/job-ticks.ts": "a table of its own, as framework_jobs",
  "lib/jobs/worker/unhandled-pauses.ts": "a rule with figures of its own",
  "lib/db/drivers/sqlite/sql-text.ts": "the only part of the driver that looks into the text of a statement",
  "lib/http/body/awaited-reading.ts": "a warning of its own, with the rule when it is due",
  "lib/cli/application/bring-up-to-date.ts": "the compiler belongs there",
  "lib/cli/see/doctor/compiler.ts": "each check of the doctor has a file",
  "lib/cli/see/doctor/stop-time.ts": "each check of the doctor has a file",
  "lib/cli/see/doctor/version-range.ts": "a grammar, without files of packages",
  "lib/cli/create/project-files.ts": "specs write projects by it, without a command",
  "lib/cli/text-table.ts": "each command that shows rows uses it",
  "lib/app/workers/run-workers.ts": "an application without workers does not load it",
  "lib/mail/quoted-printable.ts": "an encoding with a standard of its own",
};

interface MochaFiles {
  readonly lookupFiles: (pattern: string, extensions: readonly string[], recursive: boolean) => readonly string[];
}

const TITLE = /\b(?:it|describe)\(\s*(?:"[^"]*"|`[^`]*`)/g;

const library = sourcesBelow("lib");
const shown = [...library, ...sourcesBelow("samples")];

describe("files", () => {
  it(`are at most ${MAX_LINES} lines long`, () => {
    const long = breaches(shown, ({ text }) =>
      text.split("\n").length > MAX_LINES + 1 ? ["is too long: divide it"] : [],
    );

    expect(long).to.deep.equal([]);
  });

  it(`of fewer than ${FEWEST_LINES} lines are a part of their only importer, unless it is an entry point`, () => {
    const small = breaches(library, ({ path, text }) => {
      const importers = library.filter(({ imports }) => imports.some(({ file }) => file === path));
      const [only] = importers;
      const isFace = path.startsWith("lib/entries/") || only?.path.startsWith("lib/entries/");
      // The table of commands imports the file of a command when it runs.
      const isCommand = /^lib\/cli\/(?:program|\w+\/rows?)\.ts$/.test(only?.path ?? "");
      const isPart =
        text.split("\n").length <= FEWEST_LINES &&
        importers.length === 1 &&
        !isFace &&
        !isCommand &&
        path.endsWith(".ts");
      return isPart && !(path in SMALL) ? [`is small: move it into ${only?.path}, or give the reason in SMALL`] : [];
    });

    expect(small).to.deep.equal([]);
  });

  it("open with a comment", () => {
    const wrong = breaches(library, ({ text }) =>
      /^(?:#!.*\n)?\/\*\*/.test(text) ? [] : ["does not open with a comment"],
    );

    expect(wrong).to.deep.equal([]);
  });

  it("have a name in kebab-case that names a concept", () => {
    const wrong = breaches(shown, ({ path }) => {
      const name = path.split("/").at(-1) ?? "";
      const vague = /^(index|utils?|helpers?|common|misc|shared|types)\.|\.service\./.test(name);
      return /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*\.c?ts$/.test(name) && !vague ? [] : ["does not name a concept"];
    });

    expect(wrong).to.deep.equal([]);
  });

  it("declare each name of a type once, so that one word has one meaning", () => {
    const places = new Map<string, string[]>();
    for (const { path, code } of library) {
      for (const [, name = ""] of code.matchAll(/^(?:export )?(?:abstract )?(?:class|interface|type) (\w+)/gm)) {
        places.set(name, [...(places.get(name) ?? []), path]);
      }
    }

    // The contract of a middleware and its decorator share one name in the public interface.
    places.delete("Middleware");
    const repeated = [...places].filter(([, paths]) => new Set(paths).size > 1);

    expect(repeated.map(([name, paths]) => `${name}: ${paths.join(", ")}`)).to.deep.equal([]);
  });

  it("have no default export", () => {
    const wrong = breaches(library, ({ code }) =>
      /^export default|\bas default\b/m.test(code) ? ["has a default export"] : [],
    );

    expect(wrong).to.deep.equal([]);
  });

  it("name the targets of their events framework::<area>::<part>", () => {
    const wrong = breaches(library, ({ code }) =>
      [...code.matchAll(/\btracing\.target\("(.*?)"\)/g)]
        .filter(([, target = ""]) => !/^framework(::[a-z_]+)+$/.test(target))
        .map(([call]) => `has ${call}: write framework::<area>::<part>`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("have no message whose fix is to look at another message", () => {
    const wrong = breaches(library, ({ code }) =>
      [...code.matchAll(/\bsee the (?:cause|message|error)\b/gi)].map(([words]) => `says "${words}": name the fix`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("do not compile text to code at run time", () => {
    const wrong = breaches(library, ({ code }) => (/\beval\(|new Function\(/.test(code) ? ["compiles text"] : []));

    expect(wrong).to.deep.equal([]);
  });
});

describe("specs", () => {
  it("are all found by the patterns of the test runner, and each pattern finds one", () => {
    const { spec } = JSON.parse(textOf(".mocharc.json") ?? "") as { readonly spec: readonly string[] };
    // The package has no types of this function. It throws for a pattern that finds nothing; Mocha itself warns of it, and goes on.
    const { lookupFiles } = createRequire(import.meta.url)("mocha/lib/cli/lookup-files.js") as MochaFiles;
    const found = spec.flatMap((pattern) => lookupFiles(pattern, ["js"], false));

    const files = sourcesBelow("spec").filter(({ path }) => path.endsWith(".spec.ts"));
    expect(found.map((path) => toSource(`./${path}`)).toSorted()).to.deep.equal(
      files.map(({ path }) => path).toSorted(),
    );
  });
});

describe("spec titles", () => {
  const specs = sourcesBelow("spec");

  it("and the text of the library name their subject", () => {
    const vague = /\b(?:whoever|nobody|no one)\b/gi;
    const titles = specs.map((spec) => ({ ...spec, text: [...spec.text.matchAll(TITLE)].join("\n") }));

    const wrong = breaches([...library, ...titles], ({ text }) =>
      [...text.matchAll(vague)].map(([word]) => `says "${word}": name the subject`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("are statements in the present", () => {
    const wrong = breaches(specs, ({ text }) =>
      [...text.matchAll(/\b(?:it|describe)\(\s*["'`](.*?\bshould\b.*?)["'`],/gi)].map(([, title]) => `says "${title}"`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("stand in files that mocha finds", () => {
    const lost = breaches(specs, ({ path, text }) =>
      /^describe\(/m.test(text) && !path.endsWith(".spec.ts") ? ["holds specs that do not run: name it *.spec.ts"] : [],
    );

    expect(lost).to.deep.equal([]);
  });
});
