import {
  Application,
  Command,
  Controller,
  type FrameworkError,
  Injectable,
  Module,
  provide,
} from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { z } from "zod";
import { RESERVED_GROUPS } from "../../lib/commands/command.js";
import { COMMANDS } from "../../lib/cli/program.js";
import { errorOf } from "../support/error-of.js";
import { startupErrorOf } from "../support/startup-error-of.js";

const Values = z.object({ month: z.string() });

class Reports {
  @Command("reports:send", Values)
  send(_values: { month: string }): void {}
}

function build(...providers: readonly (new () => object)[]): Application {
  @Module({ providers: [...providers] })
  class Shop {}
  return Application.create(Shop).build();
}

describe("@Command", () => {
  it("gives the application a command for each method of its providers and controllers", () => {
    @Controller("/sweeps")
    class Sweeps {
      @Command("sweeps:run")
      @Command("sweeps:again")
      run(): void {}
    }
    @Module({ providers: [Reports], controllers: [Sweeps] })
    class Shop {}

    const { commands } = Application.create(Shop).build();

    expect(commands.map(({ name, place, schema }) => [name, place, schema])).to.deep.equal([
      ["reports:send", "Reports.send", Values],
      ["sweeps:again", "Sweeps.run", undefined],
      ["sweeps:run", "Sweeps.run", undefined],
    ]);
  });

  it("stands in the graph of its module", () => {
    const [shop] = build(Reports).graph().modules;

    expect(shop?.commands).to.deep.equal(["Reports.send on reports:send"]);
  });

  it("has the names of the subclass where that decorates the method again", () => {
    class Monthly extends Reports {
      @Command("monthly:send", Values)
      override send(): void {}
    }

    expect(build(Monthly).commands.map(({ name }) => name)).to.deep.equal(["monthly:send"]);
  });

  it("refuses two methods for one name", () => {
    class Others {
      @Command("reports:send")
      send(): void {}
    }

    const { diagnostics } = startupErrorOf(() => build(Reports, Others));

    expect(diagnostics).to.have.length(1);
    expect(diagnostics[0]).to.include({
      code: "E_COMMAND_TWICE",
      what: "the command reports:send has more than one method",
      where: "Reports.send and Others.send",
    });
  });

  const names = [
    "send",
    "Reports:send",
    "reports:",
    ":send",
    "reports send:a",
    "a:\n",
    `a:${"b".repeat(99)}`,
    "",
    "--a:b",
  ];
  for (const name of names) {
    it(`refuses the name ${JSON.stringify(name.slice(0, 20))}`, () => {
      expect(errorOf(() => Command(name))).to.have.property("code", "E_COMMAND_NAME");
    });
  }

  it("leaves to the framework each group that a command of the framework is in", () => {
    const groups = COMMANDS.filter(({ name }) => name.includes(":")).map(({ name }) => name.split(":")[0]);

    expect(RESERVED_GROUPS).to.include.members(groups);
    for (const group of RESERVED_GROUPS)
      expect(errorOf(() => Command(`${group}:mine`))).to.have.property("code", "E_COMMAND_NAME");
  });

  it("refuses a value that is no schema", () => {
    const error = errorOf(() =>
      Reflect.apply(Command, undefined, ["reports:send", { month: "text" }]),
    ) as FrameworkError;

    expect(error).to.have.property("code", "E_DECORATOR_CALL");
    expect(error.message).to.equal('@Command("reports:send") needs a Standard Schema, not an object');
  });

  it("is a method that a test calls on the provider, with a context that is a plain object", async () => {
    @Injectable()
    class Greetings {
      @Command("greetings:print", z.object({ name: z.string() }))
      print({ name }: { name: string }, { stdout }: { stdout: { write(text: string): unknown } }): void {
        stdout.write(`hello ${name}`);
      }
    }
    await using app = await testApp(Application.create().provide(provide(Greetings).useClass(Greetings)));
    const written: string[] = [];

    app.resolve(Greetings).print({ name: "ada" }, { stdout: { write: (text) => written.push(text) } });

    expect(written).to.deep.equal(["hello ada"]);
  });
});
