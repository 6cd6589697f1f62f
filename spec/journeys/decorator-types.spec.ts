/** The compiler checks decorated methods in both kinds of decorators, and the last line of its refusal is the sentence of the framework. */
import { execFile } from "node:child_process";
import { expect } from "chai";
import { join } from "node:path";
import { promisify } from "node:util";
import { CHECKED, DECORATOR_KINDS, getLastLine, splitMessages } from "../support/compiler-messages.js";
import { Consumer } from "../support/consumer.js";
import { filesBelow, ROOT } from "../support/sources.js";
import { type Cell, DECORATORS, type Kind, listCells, PREAMBLE } from "./decorator-places/cells.js";

const WRONG = `
import { Command, type Context, Controller, Get, guard, Guards, On, event, resource, routes } from "@stagecraft/framework";
import { Every, Handles, job, schedule } from "@stagecraft/framework/jobs";

const shown = event<{ id: string }>("shown");
const send = job<{ to: string }>("send");
const signedIn = guard<{ user: string }>("signed-in");
const photos = resource("photos", "/photos");
const links = routes("links", "/links", { show: Get("/{id}") });

export class Wrong {
  @Get("/{id}") show({ params }: Context<"slug">) { return params.slug; }
  @links.show showLink({ params }: Context<"slug">) { return params.slug; }
  @photos.edit edit({ params }: Context<"slug">) { return params.slug; }
  @Guards(signedIn) check(_ctx: Context) { return { name: "ada" }; }
  @On(shown) hear({ name }: { name: string }) { return name; }
  @Handles(send) run({ name }: { name: string }) { return name; }
  @Command("links:send") send({ name }: { name: string }) { return name; }
  @Command("links:count") count() { return 1; }
  @Every(schedule("tick", "0 3 * * *")) tick({ name }: { name: string }) { return name; }
}

@Controller(photos)
export class Photos { show({ params }: Context<"slug">) { return params.slug; } }

@Controller("/teams/{team}")
export class Teams {}
`;

const SENTENCES = [
  '"the handler asks for values that the path /{id}, its schemas and its guards do not give"',
  '"the handler asks for values that the path /links/{id}, its schemas and its guards do not give"',
  '"the handler asks for values that the path /photos/{id}/edit, its schemas and its guards do not give"',
  '"the method does not return the values that this guard adds to the context"',
  '"listener asks for a payload that the event does not have": { id: string; }',
  '"handler does not take the payload of this job": { to: string; }',
  '"method does not take the values of this command": Readonly<Record<string, never>>',
  '"a command returns nothing: it writes its result to stdout": number',
  '"handler does not take the payload of this job": ScheduledTick',
  '"handler asks for values that the path and the guards of its action do not give": { show: "/photos/{id}"; }',
  '"a prefix captures nothing: give routes(name, prefix, …), or write the capture into the endpoints"',
];

/** Refused when the class is defined, and not by types: both kinds of call have one type for these and for other methods. */
const UNTYPED = /^E_DECORATOR_REPEATED|^E_DECORATOR_KIND .* (?:static|private) method \S+: .* public instance method$/;

/** Without parentheses, above a class or a method where the decorator belongs. */
const BARE =
  /^E_(?:DECORATOR_CALL|PROVIDER_INVALID) .* above the (?:class|method) .* without parentheses: write @[^)]*\)$/;

const SETTINGS = { ...CHECKED, noImplicitAny: false };

/** A class in a block of its own, with the number of its first line. */
function toBlocks(cells: readonly Cell[]): { readonly text: string; readonly starts: readonly number[] } {
  let text = `${PREAMBLE}\nconst use = (target: object) => target;\n`;
  const starts: number[] = [];
  for (const { source } of cells) {
    starts.push(text.split("\n").length);
    text += `{\n${source}\n}\n`;
  }
  return { text, starts };
}

/** The codes of the errors of each cell. */
function groupByCell(messages: string, cells: readonly Cell[], starts: readonly number[]): Map<string, Set<string>> {
  const codes = new Map(cells.map(({ name }) => [name, new Set<string>()]));
  for (const [, line = "", code = ""] of messages.matchAll(/^cells\.ts\((\d+),\d+\): error (TS\d+)/gm)) {
    const index = starts.findLastIndex((start) => start <= Number(line));
    codes.get(cells[index]?.name ?? "")?.add(code);
  }
  return codes;
}

describe("the compiler", function () {
  this.timeout(240_000);

  for (const [kind, experimentalDecorators] of Object.entries(DECORATOR_KINDS)) {
    it(`ends its refusal of a ${kind} decorator with the sentence of the framework`, async () => {
      using consumer = Consumer.create();
      consumer.installFromRepository("@types/node");
      consumer.write("wrong.ts", WRONG);

      const output = await consumer.compile(["wrong.ts"], { ...SETTINGS, experimentalDecorators });

      const lines = splitMessages(output).map(getLastLine);

      expect(lines).to.have.length(SENTENCES.length);
      for (const [index, sentence] of SENTENCES.entries()) expect(lines[index]).to.include(sentence);
    });
  }

  for (const [kind, experimentalDecorators] of Object.entries(DECORATOR_KINDS)) {
    it(`refuses a ${kind} decorator where it cannot work`, async () => {
      using consumer = Consumer.create();
      consumer.installFromRepository("@types/node");
      const cells = listCells(kind as Kind);
      const { text, starts } = toBlocks(cells);
      consumer.write("cells.ts", text);

      const messages = await consumer.compile(["cells.ts"], { ...SETTINGS, experimentalDecorators });

      const codes = groupByCell(messages, cells, starts);
      const findCells = (has: (cell: Cell, found: ReadonlySet<string>) => boolean): readonly string[] =>
        cells.filter((each) => has(each, codes.get(each.name) ?? new Set())).map(({ name }) => name);
      expect(findCells(({ sentence }, found) => sentence === "works" && found.size > 0)).to.deep.equal([]);
      expect(findCells(({ sentence }, found) => sentence !== "works" && found.size === 0)).to.deep.equal(
        findCells(({ sentence }) => UNTYPED.test(sentence)),
      );
      expect(findCells(({ sentence }) => BARE.test(sentence))).to.have.length.above(DECORATORS.length - 1);
      // The compiler reports that a factory returns no decorated value, and has no sentence for it.
      expect(findCells(({ sentence }, found) => BARE.test(sentence) && !found.has("TS1270"))).to.deep.equal([]);
    });
  }

  it("accepts and refuses the same programs with standard decorators as with legacy ones", async () => {
    using consumer = Consumer.create();
    const files = filesBelow("spec/types", ".ts").map((file) => join(ROOT, file));
    const standard = { experimentalDecorators: false, emitDecoratorMetadata: false };
    const options = { ...standard, noEmit: true, rootDir: ROOT, typeRoots: [join(ROOT, "node_modules/@types")] };
    const settings = { extends: join(ROOT, "tsconfig.json"), compilerOptions: options, files, include: [] };
    consumer.write("tsconfig.json", JSON.stringify(settings));
    const compiler = join(ROOT, "node_modules/typescript/bin/tsc");

    const { stdout } = await promisify(execFile)(process.execPath, [compiler, "-p", consumer.folder], {
      cwd: ROOT,
    }).catch((error: unknown) => error as { readonly stdout: string });

    expect(files.length).to.be.at.least(8);
    expect(stdout).to.equal("");
  });
});
