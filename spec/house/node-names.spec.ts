/** Node's private names stand in one file, which another file on Node's documented API can replace. */
import { expect } from "chai";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as privateWay from "../../lib/http/node-internals.js";
import * as publicWay from "../../lib/http/node-internals-public.js";
import { breaches, ROOT, sourcesBelow, textOf } from "../support/sources.js";

const run = promisify(execFile);

const CONDITION = "--conditions=stagecraft-public-node";
const PRIVATE_WAY = "lib/http/node-internals.ts";

/** The methods that Node documents for streams of an application. */
const DOCUMENTED = new Set("_construct _destroy _final _flush _read _transform _write _writev".split(" "));

/** Code whose packages have underscores in their names: pg, nodemailer and zod. */
const OF_PACKAGES = ["lib/db/drivers/postgres/", "lib/mail/smtp/", "lib/contracts/json-schema.ts"];

/** A member that is accessed, destructured, declared, or named in a call of `Reflect`. */
const MEMBERS = [
  /\.(_[a-z]\w*)/gi,
  /\{(?:[^{}()]*[\s,])?(?<!: )(_[a-z]\w*)[^{}]*\}\s*[=:]/gi,
  /&\s*\{\s*(?:readonly )?(_[a-z]\w*)\??: /gi,
  /^\s*(?:(?:declare|readonly|private|protected|static) )*(_[a-z]\w*)\??: /gim,
  /\bReflect\.\w+\([^()]*"(_[a-z]\w*)"/gi,
  /\b(getOwnPropertySymbols|kOutHeaders)\b/g,
];

function findPrivateNames(code: string): readonly string[] {
  const found = MEMBERS.flatMap((pattern) => [...code.matchAll(pattern)].map(([, name = ""]) => name));
  return found.filter((name) => !DOCUMENTED.has(name));
}

describe("the private names of Node", () => {
  const library = sourcesBelow("lib").filter(({ path }) => !OF_PACKAGES.some((folder) => path.startsWith(folder)));

  it("stand in one file of the library", () => {
    const wrong = breaches(
      library.filter(({ path }) => path !== PRIVATE_WAY),
      ({ code }) =>
        findPrivateNames(code).map((name) => `has ${name}: move it to ${PRIVATE_WAY}, or use a public name`),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("stand in the decision page, each of them", () => {
    const page = textOf("docs/decisions/node-private-names.md") ?? "";
    const names = new Set(findPrivateNames(library.find(({ path }) => path === PRIVATE_WAY)?.code ?? ""));

    expect(names).to.include("_header").and.include("_readableState");
    expect([...names].filter((name) => !page.includes(`\`${name}\``))).to.deep.equal([]);
  });

  it("have a public way with the same functions", () => {
    const publicFunctions: typeof privateWay = publicWay;
    const privateFunctions: typeof publicWay = privateWay;

    expect(Object.keys(publicFunctions)).to.have.members(Object.keys(privateFunctions));
  });

  for (const [what, options, file] of [
    ["are the default", [], "/lib/http/node-internals.js"],
    ["are absent under the condition of package.json", [CONDITION], "/lib/http/node-internals-public.js"],
    ["are absent under Bun", ["--conditions=bun"], "/lib/http/node-internals-public.js"],
    ["are absent under Deno", ["--conditions=deno"], "/lib/http/node-internals-public.js"],
  ] as const) {
    it(what, async () => {
      const code = 'console.log(import.meta.resolve("#node-internals"))';

      const { stdout } = await run(process.execPath, [...options, "--input-type=module", "--eval", code], {
        cwd: ROOT,
        env: { ...process.env, NODE_OPTIONS: "" },
      });

      expect(stdout.trim().endsWith(file)).to.equal(true);
    });
  }

  it("are absent in one run of the specs in CI", () => {
    expect(textOf(".ci/run")).to.include(`NODE_OPTIONS=${CONDITION} `);
  });
});

describe("the search for private names", () => {
  for (const [what, code, names] of [
    ["a member", "raw._header = null;", ["_header"]],
    ["a destructured member", "const { socket, _httpMessage: message } = it;", ["_httpMessage"]],
    ["a destructured parameter", "function a({ _sent100, stream }: Internals): void {}", ["_sent100"]],
    [
      "a member of an intersection",
      "const it = socket as Duplex & { readonly _httpMessage?: unknown };",
      ["_httpMessage"],
    ],
    ["a declared member", "interface A {\n  readonly _dumped?: boolean;\n}", ["_dumped"]],
    ["a name in a call of Reflect", 'Reflect.set(socket, "_paused", false);', ["_paused"]],
    ["a symbol", "Object.getOwnPropertySymbols(raw);", ["getOwnPropertySymbols"]],
    ["a documented method", "incoming._read = () => {};", []],
    ["a renamed member", "const { password: _password, ...rest } = options;", []],
    ["a parameter", "function a(raw: object, _text: string): void {}", []],
    ["an unused parameter", "server.on(name, (_incoming, socket) => {});\nfunction a(_b: string) {}", []],
  ] as const) {
    it(`finds ${String(names.length)} in ${what}`, () => {
      expect(findPrivateNames(code)).to.deep.equal(names);
    });
  }
});
