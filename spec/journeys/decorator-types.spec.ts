/** The compiler checks decorated methods in both kinds of decorators, and the last line of its refusal is the sentence of the framework. */
import { execFile } from "node:child_process";
import { expect } from "chai";
import { join } from "node:path";
import { promisify } from "node:util";
import { Consumer } from "../support/consumer.js";
import { filesBelow, ROOT } from "../support/sources.js";

const WRONG = `
import { type Context, Controller, Get, On, event, resource } from "@stagecraft/framework";
import { Every, Handles, job, schedule } from "@stagecraft/framework/jobs";

const shown = event<{ id: string }>("shown");
const send = job<{ to: string }>("send");
const photos = resource("photos", "/photos");

export class Wrong {
  @Get("/{id}") show({ params }: Context<"slug">) { return params.slug; }
  @On(shown) hear({ name }: { name: string }) { return name; }
  @Handles(send) run({ name }: { name: string }) { return name; }
  @Every(schedule("tick", "0 3 * * *")) tick({ name }: { name: string }) { return name; }
}

@Controller(photos)
export class Photos { show({ params }: Context<"slug">) { return params.slug; } }
`;

const SENTENCES = [
  '"handler asks for parameters that this path does not have": "/{id}"',
  '"listener asks for a payload that the event does not have": { id: string; }',
  '"handler does not take the payload of this job": { to: string; }',
  '"handler does not take the payload of this job": ScheduledTick',
  '"handler asks for parameters that the path of its action does not have": { show: "/photos/{id}"; }',
];

const KINDS = { legacy: true, standard: false } as const;

/** The last line of each error: its further lines are indented. */
function lastLines(messages: string): readonly string[] {
  return messages.split(/\n(?=\S)/).map((message) => message.trimEnd().split("\n").at(-1) ?? "");
}

describe("the compiler", function () {
  this.timeout(240_000);

  for (const [kind, experimentalDecorators] of Object.entries(KINDS)) {
    it(`ends its refusal of a ${kind} decorator with the sentence of the framework`, async () => {
      using consumer = Consumer.create();
      consumer.installFromRepository("@types/node");
      consumer.write("wrong.ts", WRONG);

      const lines = lastLines(
        await consumer.compile(["wrong.ts"], {
          strict: true,
          target: "ES2022",
          module: "NodeNext",
          types: ["node"],
          noEmit: true,
          skipLibCheck: true,
          experimentalDecorators,
        }),
      );

      expect(lines).to.have.length(SENTENCES.length);
      for (const [index, sentence] of SENTENCES.entries()) expect(lines[index]).to.include(sentence);
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
