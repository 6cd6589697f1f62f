/** Each decorator above each kind of member, with and without parentheses, as source text and with the sentence that is expected of it. */

export type Kind = "legacy" | "standard";

type Target = "class" | "method" | "parameter" | "other";

interface Decorator {
  readonly name: string;
  readonly call: string;
  /** As messages write it. */
  readonly shown: string;
  /** The cure of a decorator without parentheses. */
  readonly cure: string;
  readonly belongs: readonly Target[];
}

interface Place {
  readonly name: string;
  readonly target: Target;
  readonly kinds: readonly Kind[];
  /** `@D` is the decorator. */
  readonly source: string;
  readonly text: Readonly<Record<Kind, string>>;
}

const METHODS = ["Get", "Post", "Put", "Patch", "Delete", "Head", "Options", "Any"];

export const DECORATORS: readonly Decorator[] = [
  toDecorator("Controller()", "Controller(…)", 'Controller("/prefix")', "class"),
  toDecorator("Module({})", "Module({ … })", "Module({ … })", "class"),
  toDecorator("Injectable()", "Injectable()", "Injectable()", "class"),
  toDecorator("Middleware(Guard)", "Middleware(…)", "Middleware(SignedIn)", "class", "method"),
  ...METHODS.map((name) => toDecorator(`${name}("/")`, `${name}("/")`, `${name}("/path")`, "method")),
  toDecorator("On(shown)", "On(event)", "On(event)", "method"),
  toDecorator("Handles(send)", "Handles(job)", "Handles(job)", "method"),
  toDecorator("Every(nightly)", "Every(schedule)", "Every(schedule)", "method"),
  toDecorator('Command("links:send")', "Command(name)", 'Command("group:name")', "method"),
  toDecorator("Guards(plain)", "Guards(plain)", "Guards(guard)", "method"),
  toDecorator("Inject(Store)", "Inject", "Inject(token)", "parameter"),
];

function toDecorator(call: string, shown: string, cure: string, ...belongs: readonly Target[]): Decorator {
  return { name: call.slice(0, call.indexOf("(")), call, shown, cure, belongs };
}

const BOTH: readonly Kind[] = ["legacy", "standard"];

const PLACES: readonly Place[] = [
  {
    name: "class",
    target: "class",
    kinds: BOTH,
    source: "@D class Links {}\nuse(Links);",
    text: { legacy: "above the class Links", standard: "above the class Links" },
  },
  { ...member("method", "class Links { @D index() {} }"), target: "method" },
  member("static method", "class Links { @D static index() {} }"),
  member("field", "class Links { @D index = 1; }"),
  member("static field", "class Links { @D static index = 1; }"),
  member("accessor", "class Links { @D accessor index = 1; }"),
  member("static accessor", "class Links { @D static accessor index = 1; }"),
  member("getter", "class Links { @D get index() { return 1; } }"),
  member("setter", "class Links { @D set index(_: number) {} }"),
  // Compilers refuse legacy decorators above private members, and standard decorators on parameters.
  { ...member("private method", "class Links { @D #index() {} }", "#index"), kinds: ["standard"] },
  { ...member("private static method", "class Links { @D static #index() {} }", "#index"), kinds: ["standard"] },
  { ...member("private field", "class Links { @D #index = 1; }", "#index"), kinds: ["standard"] },
  parameter("parameter", "class Links { constructor(_, @D index) {} }", "the constructor of Links", "parameter"),
  parameter("parameter of a method", "class Links { index(_, @D index) {} }", "Links.index", "other"),
];

function member(name: string, source: string, key = "index"): Place {
  const text = { legacy: `above the ${name} Links.${key}`, standard: `above the ${name} ${key}` };
  return { name, target: "other", kinds: BOTH, source, text };
}

function parameter(name: string, source: string, owner: string, target: Target): Place {
  const text = `on parameter 2 of ${owner}`;
  return { name, target, kinds: ["legacy"], source, text: { legacy: text, standard: text } };
}

const NEEDED: Readonly<Record<Target, string>> = {
  class: "above a class",
  method: "above a public instance method",
  parameter: "on a parameter of a constructor",
  other: "",
};

/** Source and sentence of one decorator at one place. */
export interface Cell {
  readonly name: string;
  readonly source: string;
  readonly sentence: string;
}

/** The code and the message for each cell of a decorator; `works` where the decorator belongs. */
export function expectedOf(decorator: Decorator, kind: Kind): Readonly<Record<string, string>> {
  return Object.fromEntries(cellsOf(decorator, kind).map(({ name, sentence }) => [name, sentence]));
}

function cellsOf(decorator: Decorator, kind: Kind): readonly Cell[] {
  const places = PLACES.filter(({ kinds }) => kinds.includes(kind));
  const { name, call } = decorator;
  return [
    ...places.map((place) => cell(place.name, place, call, correctOrMisplaced(decorator, place, kind))),
    ...places.map((place) => cell(`bare, ${place.name}`, place, name, bareSentence(decorator, place, kind))),
    ...places
      .filter(({ target }) => target === "class")
      .map((place) => cell("twice", place, `${call} @${call}`, twiceSentence(decorator, place, kind))),
  ];
}

function cell(name: string, place: Place, call: string, sentence: string): Cell {
  return { name, source: place.source.replace("@D", `@${call}`), sentence };
}

function correctOrMisplaced(decorator: Decorator, place: Place, kind: Kind): string {
  const { name, shown, belongs } = decorator;
  if (belongs.includes(place.target)) return "works";
  if (name === "Inject") return misplacedInject(place, kind);
  return `E_DECORATOR_KIND @${shown} stands ${place.text[kind]}: it belongs ${neededOf(decorator)}`;
}

function bareSentence(decorator: Decorator, place: Place, kind: Kind): string {
  const { name, cure, belongs } = decorator;
  const isThere = belongs.includes(place.target);
  // A legacy compiler calls `Inject` and `Middleware` with the class, as a correct program does. The module that lists the class finds it.
  const isFoundLate = kind === "legacy" && place.target === "class" && ["Inject", "Middleware"].includes(name);
  if (name === "Inject" && !isThere && !isFoundLate) return misplacedInject(place, kind);
  const where = isThere ? "" : ` ${neededOf(decorator)}`;
  return `${isFoundLate ? "E_PROVIDER_INVALID" : "E_DECORATOR_CALL"} @${name} stands ${place.text[kind]} without parentheses: write @${cure}${where}`;
}

function twiceSentence(decorator: Decorator, place: Place, kind: Kind): string {
  const { name, belongs } = decorator;
  const isOfClasses = belongs.length === 1 && belongs[0] === "class";
  if (!isOfClasses || name === "Injectable") return correctOrMisplaced(decorator, place, kind);
  return `E_DECORATOR_REPEATED @${name} stands twice ${place.text[kind]}: write it once`;
}

function misplacedInject(place: Place, kind: Kind): string {
  const reason = kind === "legacy" ? "it belongs on a parameter of a constructor" : NO_PLACE;
  return `E_INJECT_PLACE @Inject stands ${place.text[kind]}: ${reason}`;
}

const NO_PLACE =
  "as a standard decorator it has no place; write inject(Token) as the default of a constructor parameter, or as the value of a field";

function neededOf({ belongs }: Decorator): string {
  return belongs.map((each) => NEEDED[each]).join(" or ");
}

/** What the source of a cell uses. */
export const PREAMBLE = `
import { Application, Command, Controller, Guards, Inject, Injectable, Middleware, Module, On, event, guard, ${METHODS.join(", ")} } from "@stagecraft/framework";
import { Every, Handles, job, schedule } from "@stagecraft/framework/jobs";
const shown = event("shown");
const send = job("send");
const nightly = schedule("nightly", "0 3 * * *");
const plain = guard("plain");
class Store {}
class Guard { handle(_ctx: object, next: () => Promise<void>) { return next(); } }`;

/** Every cell, with the name of its decorator. */
export function listCells(kind: Kind): readonly Cell[] {
  return DECORATORS.flatMap((decorator) =>
    cellsOf(decorator, kind).map((each) => ({ ...each, name: `${decorator.name}, ${each.name}` })),
  );
}

/** A program that prints the result of each cell as JSON, by the name of the decorator. */
export function programOf(kind: Kind): string {
  const entries = DECORATORS.map((decorator) => {
    const cells = cellsOf(decorator, kind).map(({ name, source }) => `"${name}": () => {\n${source}\n},`);
    return `${decorator.name}: {\n${cells.join("\n")}\n},`;
  });
  return `${PREAMBLE}
/** Where a factory has replaced the class by a function, that is found where the class is used. */
function use(target) {
  class Root {}
  Module({ providers: [target] })(Root);
  if (!String(target).startsWith("class")) Application.create(Root).build();
}
function resultOf(run) {
  try {
    run();
    return "works";
  } catch (error) {
    const { code, what = error.message } = error.diagnostics?.[0] ?? error;
    return code + " " + what;
  }
}
const decorators = {\n${entries.join("\n")}\n};
const results = Object.entries(decorators).map(([name, cells]) => {
  return [name, Object.fromEntries(Object.entries(cells).map(([cell, run]) => [cell, resultOf(run)]))];
});
console.log(JSON.stringify(Object.fromEntries(results)));
`;
}
