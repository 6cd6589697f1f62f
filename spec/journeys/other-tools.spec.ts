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

function project(type: "module" | "commonjs"): Mistake {
  const settings = { experimentalDecorators: true, emitDecoratorMetadata: true, target: "ES2022", module: "NodeNext" };
  return {
    title: `a project of the type ${type}`,
    by: "tsx",
    files: {
      "package.json": JSON.stringify({ type }),
      "tsconfig.json": JSON.stringify({ compilerOptions: settings }),
      "main.ts": IMPORTS + HELLO,
    },
    says: ["listening on", "Hello, Ada!", ""],
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
});
