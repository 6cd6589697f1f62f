/** Programs that another tool than tsc compiles. What tools do with mistakes is in `mistakes/tools.ts`. */
import { expect } from "chai";
import { type Mistake, IMPORTS } from "./mistakes/mistake.js";
import { MistakeRuns } from "../support/mistake-runs.js";

const HELLO = `
@Controller() class HelloController {
  @Get("/hello/{name}") greet({ params }: Context<"name">) { return \`Hello, \${params.name}!\`; }
}
@Module({ controllers: [HelloController] }) class HelloModule {}
const url = \`http://127.0.0.1:\${process.env["PORT"]}/hello/Ada\`;
const ask = (): Promise<string> => fetch(url).then((response) => response.text(), () => new Promise((next) => setTimeout(next, 20)).then(ask));
void Application.create(HelloModule).build().run();
void ask().then(console.log);
`;

/** As above, with injection: tsx emits no types of parameters. */
const INJECTING = `
import { inject } from "@stagecraft/framework";
class Names { readonly polite = "dear "; }
class Greeter {
  private readonly names = inject(Names);
  greet(name: string) { return \`Hello, \${this.names.polite}\${name}!\`; }
}
@Controller() class HelloController {
  constructor(private readonly greeter = inject(Greeter), private readonly fallback = inject(Names)) {}
  @Get("/hello/{name}") greet({ params }: Context<"name">) { return this.fallback && this.greeter.greet(params.name); }
}
@Module({ controllers: [HelloController], providers: [Greeter, Names] }) class HelloModule {}
${HELLO.slice(HELLO.indexOf("const url"))}`;

/** As the first, with an entry point that loads an optional package, and a function of Node that the banner of the guide uses too. */
const WITH_DATABASE = `
import { createRequire } from "node:module";
import { Database } from "@stagecraft/framework/db";
void [createRequire, Database];
${HELLO}`;

function project(type: "module" | "commonjs", program = HELLO, greeting = "Hello, Ada!"): Mistake {
  const settings = { experimentalDecorators: true, target: "ES2022", module: "NodeNext" };
  return {
    title: `a project of the type ${type}`,
    by: "tsx",
    files: {
      "package.json": JSON.stringify({ type }),
      "tsconfig.json": JSON.stringify({ compilerOptions: settings }),
      "main.ts": IMPORTS + program,
    },
    says: ["listening on", greeting, ""],
    serves: true,
  };
}

describe("tsx", function () {
  this.timeout(60_000);

  for (const type of ["module", "commonjs"] as const) {
    it(`runs an application in a project of the type ${type}`, async () => {
      const program = project(type);
      using runs = await MistakeRuns.prepare([program]);

      const { output, code } = await runs.run(program);

      expect(output).to.include("Hello, Ada!");
      expect(code, output).to.equal(0);
    });
  }

  it("runs an application that injects, by inject", async () => {
    const program = project("module", INJECTING, "Hello, dear Ada!");
    using runs = await MistakeRuns.prepare([program]);

    const { output, code } = await runs.run(program);

    expect(output).to.include("Hello, dear Ada!");
    expect(code, output).to.equal(0);
  });
});

describe("esbuild", function () {
  this.timeout(60_000);

  for (const format of ["esm", "cjs"] as const) {
    it(`bundles an application, whose optional packages stay beside the bundle, as ${format}`, async () => {
      const program = { ...project("module", WITH_DATABASE), bundle: { format } };
      using runs = await MistakeRuns.prepare([program]);

      const { output, code } = await runs.run(program);

      expect(output).to.include("Hello, Ada!");
      expect(code, output).to.equal(0);
    });
  }
});
