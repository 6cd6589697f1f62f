/** The output of a program that does not catch an error of its setup. */
import { expect } from "chai";
import { findCaller } from "../../lib/errors/setup-error.js";
import { runProgram } from "../support/program.js";

/** A program loads one file, because the whole library takes longer than the rest of the program. */
const APPLICATION = `const { Application } = await load("app/application.js");\n`;
const CONFIG = `const { AppConfig } = await load("app/config.js");\n`;
const MAINTENANCE = `const { Maintenance } = await load("stages/maintenance/maintenance.js");\n`;
const RATE_LIMIT = `const { RateLimit } = await load("stages/rate-limit/rate-limit.js");\n`;
const ROUTES = `const { Routes } = await load("routing/routes.js");\n`;

const REPORT = `the application cannot start
  E_PORT x is not a port
    at .port(n)
    fix: give a whole number from 0 (any free port) to 65535
`;

describe("the place of an error of the setup", () => {
  it("is in the program, and not in the package that calls its decorators", () => {
    const error = new Error();
    error.stack =
      "Error\n    at d (/app/node_modules/reflect-metadata/Reflect.js:1:2)\n    at f (/app/src/links.ts:3:4)";

    expect(findCaller(error)).to.equal("/app/src/links.ts:3:4");
  });
});

describe("a program that does not catch an error of its setup", () => {
  const rows: readonly (readonly [what: string, program: string, stderr: RegExp | string])[] = [
    ["a wrong port", `${APPLICATION}Application.create().port("x").build()`, REPORT],
    [
      "a wrong port in a function that no code waits for",
      `${APPLICATION}(async () => Application.create().port("x").build())()`,
      REPORT,
    ],
    [
      "a wrong URL of the environment",
      `${APPLICATION}${CONFIG}Application.create().config(AppConfig.fromEnv({ APP_URL: "shop.example" })).build()`,
      /^the application cannot start\n {2}E_APP_URL "shop\.example" is not a URL[^\n]*\n[^\n]*APP_URL[^\n]*\n {4}fix: [^\n]*\n$/,
    ],
    [
      "an unknown option",
      `${CONFIG}new AppConfig({ nmae: "shop" })`,
      /^E_OPTION new AppConfig: "nmae" is not an option; the options are name, url, env, port \(at [^\n]+:\d+:\d+\)\n$/,
    ],
    [
      "a wrong limit",
      `${RATE_LIMIT}RateLimit.perMinute(-1)`,
      /^E_RATE_LIMIT_QUOTA [^\n]* not -1 \(at [^\n]+:\d+:\d+\)\n$/,
    ],
    ["a wrong path", `${MAINTENANCE}new Maintenance().allow("/a?b")`, /^E_MAINTENANCE_PATH allow\("\/a\?b"\)[^\n]*\n$/],
    ["a wrong member", `${ROUTES}new Routes([Routes])`, /^E_ROUTES_INVALID member 1, Routes, is neither[^\n]*\n$/],
  ];
  for (const [what, program, stderr] of rows) {
    it(`prints ${what} without a stack, and ends with 1`, async () => {
      const ended = await runProgram(program);

      if (typeof stderr === "string") expect(ended.stderr).to.equal(stderr);
      else expect(ended.stderr).to.match(stderr);
      expect(ended.code).to.equal(1);
    });
  }

  it("prints another error with its stack", async () => {
    const program = `${RATE_LIMIT}try { RateLimit.perMinute(-1) } catch {} throw new Error("another");`;

    const { stderr, code } = await runProgram(program);

    expect(stderr)
      .to.match(/^Error: another\n {4}at /)
      .and.not.to.contain("E_RATE_LIMIT_QUOTA");
    expect(code).to.equal(1);
  });

  it("prints the line of the program under --enable-source-maps, which names the sources of the library", async () => {
    const { stderr } = await runProgram(`${RATE_LIMIT}RateLimit.perMinute(-1)`, {
      NODE_OPTIONS: "--enable-source-maps",
    });

    expect(stderr).to.match(/^E_RATE_LIMIT_QUOTA [^\n]* \(at [^\n]*\[eval1\]:\d+:\d+\)\n$/);
  });

  it("gets the error itself if it handles uncaught errors", async () => {
    const program = `
      process.on("uncaughtException", ({ code, stack }) => console.log(code, stack.includes("perMinute")));
      RateLimit.perMinute(-1);
    `;

    const { stdout, stderr, code } = await runProgram(RATE_LIMIT + program);

    expect([stdout, stderr, code]).to.deep.equal(["E_RATE_LIMIT_QUOTA true\n", "", 0]);
  });
});

describe("a program that catches an error of its setup", () => {
  it("has no listener of the library afterwards", async () => {
    const program = `
      for (let i = 0; i < 20; i++) try { Application.create().port("x").build() } catch {}
      const listeners = () => process.listenerCount("uncaughtException");
      const during = listeners();
      setImmediate(() => console.log(during, listeners()));
    `;

    expect(await runProgram(APPLICATION + program)).to.include({ stdout: "1 0\n", stderr: "", code: 0 });
  });
});

describe("a request that fails because of a setting", () => {
  it("adds no listener to the process", async () => {
    const program = `
      const { createServer } = await import("node:http");
      const application = Application.create().rateLimit(RateLimit.perMinute(1).by(() => ({}))).build();
      const server = createServer(application.callback());
      await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
      process.on("newListener", (event) => console.log(event));
      const { status } = await getFrom("http://127.0.0.1:" + server.address().port);
      console.log(status);
      server.closeAllConnections();
      server.close();
    `;

    const { stdout, code } = await runProgram(APPLICATION + RATE_LIMIT + program);

    expect([stdout, code]).to.deep.equal(["500\n", 0]);
  });
});
