/** The fixtures of Fluent's own syntax as judge of the catalogs: what the reference parser reads as an entry, and what it refuses. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { type CatalogFault, readEntries } from "../../lib/i18n/catalog-entries.js";
import { loadFluent } from "../../lib/i18n/fluent-package.js";
import { ROOT } from "../support/sources.js";

interface Fixture {
  readonly source: string;
  readonly entries: readonly string[];
  readonly junk: number;
}

/** Entries that the reference refuses and the package formats. */
const LENIENT: Readonly<Record<string, readonly string[]>> = {
  "call_expressions.ftl": ["shuffled-args", "duplicate-named-args"],
  "callee_expressions.ftl": ["term-attr-callee-placeable", "term-callee-selector"],
  "cr_err_selector.ftl": ["err01"],
  "crlf.ftl": ["err04"],
  "member_expressions.ftl": ["term-attribute-expression-placeable", "message-attribute-expression-selector"],
  "reference_expressions.ftl": [
    "message-reference-selector",
    "term-reference-selector",
    "function-expression-selector",
  ],
  "select_expressions.ftl": [
    "invalid-selector-term-value",
    "invalid-selector-term-variant",
    "invalid-selector-nested-expression",
    "invalid-selector-select-expression",
  ],
};

/** A line that ends with a carriage return alone is one line for the reference, and two for the package. The catalog is refused. */
const REFUSED = "cr_multikey.ftl";

const fixtures = Object.entries(
  JSON.parse(readFileSync(join(ROOT, "spec/i18n/fluent-fixtures/fixtures.json"), "utf8")) as Record<string, Fixture>,
);

function read(path: string, text: string) {
  const faults: CatalogFault[] = [];
  const entries = readEntries({ tag: "en", path, text }, loadFluent(), faults);
  return { ids: entries.map(({ id }) => id), faults };
}

describe("the fixtures of Fluent", () => {
  it("are all judged", () => {
    expect(fixtures).to.have.length(39);
    for (const name of Object.keys(LENIENT)) expect(fixtures.map(([each]) => each)).to.include(name);
  });

  for (const [name, { source, entries, junk }] of fixtures.filter(([each]) => each !== REFUSED)) {
    const lenient = LENIENT[name] ?? [];

    it(`${name} has the entries of the reference parser`, () => {
      const { ids } = read(name, source);

      expect(ids.filter((id) => !lenient.includes(id))).to.deep.equal(entries.filter((id) => !lenient.includes(id)));
    });

    it(`${name} is refused only if the reference parser refuses a part of it`, () => {
      const { faults } = read(name, source);

      expect(faults.length > 0).to.equal(junk > lenient.length);
    });
  }

  it(`${REFUSED} is refused, because its lines end with a carriage return alone`, () => {
    const fixture = fixtures.find(([name]) => name === REFUSED);

    expect(read(REFUSED, fixture?.[1].source ?? "").faults).to.have.length(1);
  });
});
