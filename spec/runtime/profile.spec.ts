import { expect } from "chai";
import { runProgram } from "../support/program.js";

describe("the build profile", () => {
  const rows: readonly (readonly [environment: Readonly<Record<string, string>>, profile: string])[] = [
    [{}, "debug"],
    [{ NODE_ENV: "production" }, "release"],
    [{ NODE_ENV: "development" }, "debug"],
    [{ NODE_ENV: "Production" }, "debug"],
    [{ APP_ENV: "production" }, "debug"],
    [{ NODE_ENV: "production", APP_ENV: "development" }, "release"],
  ];
  for (const [environment, profile] of rows) {
    it(`is ${profile} with ${JSON.stringify(environment)}`, async () => {
      const { stdout } = await runProgram(`console.log((await load("runtime/profile.js")).profile)`, environment);

      expect(stdout).to.equal(`${profile}\n`);
    });
  }

  it("is fixed when the process starts: a later change of the variable has no effect", async () => {
    const { stdout } = await runProgram(
      `const { Application, FrameworkError, profile, Route, Routes } = await load("entries/main.js");
      const { testApp } = await load("entries/testing.js");
      process.env.NODE_ENV = "development";
      const fail = () => { throw new FrameworkError("of the inside"); };
      const app = await testApp(Application.create().routes(new Routes([Route.get("/", fail)])));
      console.log(profile, await (await app.get("/")).text());
      await app.stop();`,
      { NODE_ENV: "production" },
    );

    expect(stdout).to.equal(
      'release {"type":"urn:framework:problem:internal","title":"Internal server error","status":500}\n',
    );
  });
});
