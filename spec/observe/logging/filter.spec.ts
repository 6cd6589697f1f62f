import { expect } from "chai";
import * as fc from "fast-check";
import type { LevelFilter } from "../../../lib/tracing/subscriber.js";
import { Filter, FILTER_ENV } from "../../../lib/observe/logging/filter.js";
import { resolveFilter } from "../../../lib/observe/logging/install.js";
import { anyText } from "../../support/any-text.js";

type Row = readonly [text: string, target: string, level: LevelFilter];

const understood: readonly Row[] = [
  ["info", "anything", "INFO"],
  ["off", "anything", "OFF"],
  ["ERROR", "anything", "ERROR"],
  ["Warn", "anything", "WARN"],
  ["dEbUg", "anything", "DEBUG"],
  ["trace", "anything", "TRACE"],
  ["shop=debug", "shop", "DEBUG"],
  ["shop=DEBUG", "shop::links", "DEBUG"],
  ["shop=debug", "shop::links::store", "DEBUG"],
  ["shop=debug", "shopping", "OFF"],
  ["shop=debug", "shop:links", "OFF"],
  ["shop=debug", "my::shop", "OFF"],
  ["shop=debug", "other", "OFF"],
  ["shop", "shop::links", "TRACE"],
  ["shop", "other", "OFF"],
  ["info,shop=debug", "shop", "DEBUG"],
  ["info,shop=debug", "other", "INFO"],
  ["shop=debug,info", "shop", "DEBUG"],
  ["info,shop=off", "shop::links", "OFF"],
  ["shop=debug,shop::links=error", "shop::links", "ERROR"],
  ["shop::links=error,shop=debug", "shop::links::store", "ERROR"],
  ["shop::links=error,shop=debug", "shop::carts", "DEBUG"],
  ["info,warn", "anything", "WARN"],
  ["shop=info,shop=trace", "shop", "TRACE"],
  ["  info , shop = debug ,, ", "shop", "DEBUG"],
  ["  info , shop = debug ,, ", "other", "INFO"],
  [",", "anything", "OFF"],
  ["", "anything", "OFF"],
  ["framework::http::catch_panic=debug", "framework::http::catch_panic", "DEBUG"],
  ["@scope/pack-age.name=info", "@scope/pack-age.name", "INFO"],
  ["straße=info", "straße::3", "INFO"],
];

const refused: readonly string[] = [
  "shop=loud",
  "shop=",
  "=info",
  "=",
  "shop=debug=info",
  "info,shop=loud",
  "two words",
  "two words=info",
  "shop=info;other=debug",
  "shop[span{field=1}]=info",
  "info,\u0000",
  "shop=3",
  "!",
];

describe("the filter", () => {
  for (const [text, target, level] of understood) {
    it(`selects up to ${level} from ${target} with ${JSON.stringify(text)}`, () => {
      expect(Filter.parse(text)?.maxLevel(target)).to.equal(level);
    });
  }

  for (const text of refused) {
    it(`does not parse ${JSON.stringify(text)}`, () => {
      expect(Filter.parse(text)).to.equal(undefined);
    });
  }

  it("uses the longest target that covers the event's target, in any order of the directives", () => {
    const target = fc
      .array(fc.constantFrom("a", "b", "ab"), { minLength: 1, maxLength: 3 })
      .map((parts) => parts.join("::"));
    const level = fc.constantFrom<LevelFilter[]>("OFF", "ERROR", "WARN", "INFO", "DEBUG", "TRACE");
    const directives = fc.uniqueArray(fc.tuple(target, level), { selector: ([name]) => name });

    fc.assert(
      fc.property(directives, fc.option(level), target, (pairs, bare, asked) => {
        const text = [...pairs.map(([name, wanted]) => `${name}=${wanted}`), ...(bare === null ? [] : [bare])].join(
          ",",
        );
        const covering = pairs.filter(([name]) => `${asked}::`.startsWith(`${name}::`));
        const longest = covering.toSorted(([a], [b]) => b.length - a.length)[0];

        return Filter.parse(text)?.maxLevel(asked) === (longest?.[1] ?? bare ?? "OFF");
      }),
    );
  });

  it("parses any text to a filter or to undefined, and never throws", () => {
    fc.assert(fc.property(anyText(), (text) => {
      Filter.parse(text)?.maxLevel(text);
    })); // prettier-ignore
  });

  it("parses and applies ten thousand directives", () => {
    const text = Array.from({ length: 10_000 }, (_, index) => `target${index}=debug`).join(",");

    expect(Filter.parse(text)?.maxLevel("target9999::part")).to.equal("DEBUG");
  });
});

describe("the filter of installLogging", () => {
  const rows: readonly (readonly [string, string | undefined, string, LevelFilter, readonly string[]])[] = [
    ["unset, default parses: the default", undefined, "warn", "WARN", []],
    ["empty, default parses: the default", "", "warn", "WARN", []],
    ["blank, default parses: the default", " \t", "warn", "WARN", []],
    ["set and parses: the variable", "debug", "warn", "DEBUG", []],
    ["set and parses, default does not: the variable, and no warning", "debug", "!", "DEBUG", []],
    ["set, does not parse: warning, then the default", "a=b", "warn", "WARN", ["RUST_LOG"]],
    ["unset, default does not parse: warning, then info", undefined, "a=b", "INFO", ["default"]],
    ["neither parses: two warnings, then info", "a=b", "c=d", "INFO", ["RUST_LOG", "default"]],
  ];

  for (const [title, variable, defaultFilter, level, warnings] of rows) {
    it(title, () => {
      const resolved = resolveFilter(variable, defaultFilter);

      expect(resolved.filter.maxLevel("anything")).to.equal(level);
      expect(resolved.warnings).to.have.lengthOf(warnings.length);
      warnings.forEach((part, index) => expect(resolved.warnings[index]).to.contain(part));
    });
  }

  it("is warned about with the name of the variable and a quotation on one line", () => {
    const [warning] = resolveFilter(`a=\n${"b".repeat(10_000)}`, "info").warnings;

    expect(FILTER_ENV).to.equal("RUST_LOG");
    expect(warning)
      .to.contain(String.raw`"a=\nb`)
      .and.not.contain("\n");
    expect(warning).to.have.lengthOf.below(500);
  });
});
