/**
 * One word for one thing: the words of the library's declarations and comments. A failure says the better word. A name that a standard, a
 * package or the specification gives stands in EXCEPTIONS with its reason.
 */

import { expect } from "chai";
import { type ParserOptions } from "prettier";
import { parsers } from "prettier/plugins/typescript";
import { type Source, sourcesBelow } from "../support/sources.js";

/** The words that no name of a declaration has, each list with the words to use. */
const OLD_WORDS: readonly (readonly [words: string, better: string])[] = [
  ["answer answers answered answering", "response (what is sent), Reply (what a handler returns), respond, send"],
  ["most longest highest largest greatest", "max"],
  ["lowest shortest fewest smallest", "min"],
  ["turn turns", "mutex, semaphore, queue"],
  ["beat beats", "heartbeat"],
  ["bury buried", "dead letter, kill"],
  ["revive revived", "retry"],
  ["told untold dry", "recorded, unknown, empty"],
  ["fate fates", "outcome"],
  ["begin begins began begun", "create, start, open"],
  ["made", "create, and the name of what was created"],
  ["kept held holds", "stored, claimed, the name of the state"],
  ["gone", "closed, removed, expired"],
  ["look looks", "read, find, poll"],
  ["noted unheard heard", "recorded, unlogged, listener"],
  ["thing things", "entry, record, row, value"],
  ["door face faces teller", "driver, port, layer, handler"],
  ["patience undone", "timeout, grace period, aborted"],
  ["owe owes", "the name of the state"],
  ["floor vites", "the name of the value"],
];

/** Several words that are one. */
const OLD_PHRASES: readonly (readonly [phrase: RegExp, better: string])[] = [
  [/^(?:give|put|lead)Back/, "release, return"],
  [/HandOut|^handOut/, "response"],
  [/^isOver$/, "isEnded, isClosed, hasTimedOut"],
];

const FUNCTION_WITH_PREPOSITION = /[a-z\d](?:Of|In|On)$/;

/** Terms of the field that have an old word. */
const TERMS = [/client_?gone/i, /(?:Koa)?(?:Request|Response)Face$/i];

/** Names with an old word that stay. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  signIn: "the verb of a person, with its preposition",
  canSignIn: "that verb",
  redirectToSignIn: "the page of the sign-in",
  begin: "the statement BEGIN of SQL",
  BeginOptions: "the options of that statement",
  beginTransaction: "a method of Kysely's interface of drivers",
  beginWork: "a hook of subsystems that the specification names",
  beginDrain: "a step of the lifecycle that the specification names",
  floorMilliseconds: "the verb of Math.floor",
  storeIn: "a verb with its preposition, for `file.storeIn(storage)`",
  matchOn: "the option of Inertia for props that are merged",
  finishedOn: "a member of BullMQ's jobs",
  putBack: "the opposite of `take` of the flash",
};

/** Old words in the whole text of the library, comments and messages included, with the number that may be left. */
const LEFT_OVER: readonly (readonly [word: string, pattern: RegExp, max: number])[] = [
  ["answer", /answer/gi, 60],
  ["MOST_ and its kind", /\b(?:MOST|LONGEST|LOWEST|SHORTEST|FEWEST|HIGHEST|LARGEST|SMALLEST)_/g, 0],
  ["own", /\b(?:of (?:its|your|their)|\w+['’]s?) own\b/gi, 10],
  ["bury", /\bbur(?:y|ied|ies)\b/gi, 10],
  ["give back", /\bg(?:ive|ives|iven|iving|ave) back\b/gi, 10],
  ["revive", /\breviv/gi, 10],
  ["told", /\b(?:un)?told\b/gi, 10],
  ["fate", /\bfate\b/gi, 10],
  ["patience", /\bpatience\b/gi, 10],
  ["undone", /\bundone\b/gi, 10],
  ["noted", /\bnoted\b/gi, 10],
  ["unheard", /\bunheard\b/gi, 10],
  ["thing", /\bthings?\b/gi, 10],
  ["made", /\bmade\b/gi, 10],
  ["kept", /\bkept\b/gi, 10],
  ["held", /\bheld\b/gi, 10],
  ["gone", /(?<!client )\bgone\b/gi, 10],
  ["look", /\blooks?\b/gi, 10],
  ["turns", /\bturns\b/gi, 10],
  ["door, teller", /\b(?:doors?|tellers?)\b/gi, 10],
];

interface Declaration {
  readonly name: string;
  readonly isFunction: boolean;
}

/** A node of prettier's syntax tree, whose types it does not export. */
type Tree = Readonly<Record<string, unknown>> & { readonly type: string };

const FUNCTIONS = /^(?:Arrow)?Function(?:Expression|Declaration)$|^TSEmptyBodyFunctionExpression$|^TSDeclareFunction$/;

/** The names that a file declares: of variables, parameters, functions, classes, types and members. */
function declarationsOf({ path, text }: Source): readonly Declaration[] {
  const found: Declaration[] = [];
  // The parser reads no other option.
  visit(parsers.typescript.parse(text, { filepath: path } as ParserOptions), (node) => found.push(...declaredBy(node)));
  return found;
}

function visit(value: unknown, action: (node: Tree) => void): void {
  if (Array.isArray(value)) for (const each of value) visit(each, action);
  else if (isTree(value)) {
    action(value);
    for (const [key, child] of Object.entries(value)) if (key !== "comments" && key !== "tokens") visit(child, action);
  }
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function declaredBy(node: Tree): readonly Declaration[] {
  const isFunction =
    FUNCTIONS.test(node.type) || isTree(node["value"]) || isTree(node["init"]) ? hasFunction(node) : false;
  const names = [node["id"], isMember(node) ? node["key"] : undefined, ...patterns(node)];
  return names.flatMap((name) => (isTree(name) ? bindings(name) : [])).map((name) => ({ name, isFunction }));
}

/** Whether the declaration is that of a function or a method. */
function hasFunction(node: Tree): boolean {
  return [node, node["value"], node["init"]].some((each) => isTree(each) && FUNCTIONS.test(each.type));
}

/** Members of classes and types. The members of a literal follow a type. */
function isMember({ type, computed }: Tree): boolean {
  return (
    computed !== true &&
    /^(?:Method|Property|Accessor)Definition$|^TS(?:Abstract\w*|Property|Method)\w*(?:Definition|Signature)$/.test(type)
  );
}

function patterns(node: Tree): readonly unknown[] {
  const parameters = node["params"] ?? node["parameters"];
  return Array.isArray(parameters) ? parameters : [];
}

/** The names that a pattern binds: `{ a, b: [c] }` binds `a` and `c`. */
function bindings(pattern: Tree): readonly string[] {
  if (pattern.type === "Identifier" || pattern.type === "PrivateIdentifier") return [String(pattern["name"])];
  const parts = [
    pattern["argument"],
    pattern["left"],
    pattern["parameter"],
    pattern["value"],
    pattern["elements"],
    pattern["properties"],
  ];
  return parts.flat().flatMap((part) => (isTree(part) ? bindings(part) : []));
}

/** `HTTPServer2` → `["http", "server", "2"]` */
function wordsOf(name: string): readonly string[] {
  return [...name.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g)].map(([word]) => word.toLowerCase());
}

/** The reason why a name breaks the table; `undefined` for a good one. */
function betterWord({ name, isFunction }: Declaration): string | undefined {
  if (TERMS.some((term) => term.test(name))) return undefined;
  const words = wordsOf(name);
  for (const [old, better] of OLD_WORDS) {
    const word = words.find((each) => old.split(" ").includes(each));
    if (word !== undefined) return `instead of "${word}" say ${better}`;
  }
  const phrase = OLD_PHRASES.find(([pattern]) => pattern.test(name));
  if (phrase !== undefined) return `say ${phrase[1]}`;
  if (!isFunction || !FUNCTION_WITH_PREPOSITION.test(name)) return undefined;
  return "a function is a verb: getX, findX, readX, parseX, toX, createX, isX, hasX";
}

describe("the vocabulary of the library", () => {
  const library = sourcesBelow("lib");
  const declarations = library.flatMap((source) =>
    declarationsOf(source).map((declaration) => ({ ...declaration, path: source.path })),
  );

  it("is found in every kind of declaration", () => {
    const text = `const answer = 1; let { a: kept, made } = o; function textOf(held: string, ...looks: []) {} class Door { fate; #beat; gone() {} }
      interface Box { readonly told: 1; bury(): void } type Thing = 1; const keyIn = () => 1;`;
    const found = declarationsOf({ path: "lib/x.ts", text, code: text, imports: [] }).filter(
      (declaration) => betterWord(declaration) !== undefined,
    );

    expect(found.map(({ name }) => name)).to.have.members(
      "answer kept made textOf held looks Door fate beat gone told bury Thing keyIn".split(" "),
    );
  });

  it("has the words of the field in the names of its declarations", () => {
    const wrong = declarations.flatMap((declaration) => {
      const better = declaration.name in EXCEPTIONS ? undefined : betterWord(declaration);
      return better === undefined ? [] : [`${declaration.path}: ${declaration.name}: ${better}`];
    });

    expect(declarations).to.have.property("length").above(10_000);
    expect([...new Set(wrong)]).to.deep.equal([]);
  });

  it("has no exception that no declaration needs", () => {
    const needed = new Set(declarations.filter((each) => betterWord(each) !== undefined).map(({ name }) => name));

    expect(Object.keys(EXCEPTIONS).filter((name) => !needed.has(name))).to.deep.equal([]);
  });

  for (const [word, pattern, max] of LEFT_OVER) {
    it(`has the old word "${word}" at most ${max} times in its whole text`, () => {
      const places = library.flatMap(({ path, text }) => [...text.matchAll(pattern)].map(() => path));

      expect(places, places.join("\n")).to.have.property("length").most(max);
    });
  }
});
