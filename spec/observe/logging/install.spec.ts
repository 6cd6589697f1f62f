import { expect } from "chai";
import { runProgram } from "../../support/program.js";

const emit = `
  const { installLogging, ObserveError, tracing } = await load("entries/observe.js");
  const log = tracing.target("shop::links");
  const other = tracing.target("other");
  log.error("before anything is installed");
`;
const events = `
  log.debug("shop debug", { password: "hunter2" });
  other.debug("other debug");
  other.info("other info");
`;

/** The messages of a release build's lines, in order. */
async function messages(defaultFilter: string, env: Readonly<Record<string, string>>): Promise<string[]> {
  const { stderr } = await runProgram(`${emit} installLogging(${JSON.stringify(defaultFilter)}); ${events}`, env);
  return stderr
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (line.startsWith("{") ? (JSON.parse(line) as { message: string }).message : line));
}

describe("installLogging", () => {
  it("writes plain text without redaction in a debug build", async () => {
    const { stderr } = await runProgram(`${emit} installLogging("info,shop=debug"); ${events}`, { NODE_ENV: "test" });

    const lines = stderr.split("\n").map((line) => line.slice("2026-11-21T08:30:00.000Z ".length));
    expect(lines).to.deep.equal(["DEBUG shop::links: shop debug password=hunter2", "INFO other: other info", ""]);
  });

  it("writes JSON with redaction in a release build", async () => {
    const { stderr } = await runProgram(`${emit} installLogging("info,shop=debug"); ${events}`, {
      NODE_ENV: "production",
    });

    const lines = stderr.trimEnd().split("\n").map((line) => JSON.parse(line) as unknown); // prettier-ignore
    expect(lines).to.have.lengthOf(2);
    expect(lines[0]).to.deep.include({ level: "DEBUG", fields: { password: "[redacted]" } });
    expect(lines[1]).to.deep.include({ level: "INFO", target: "other", message: "other info" });
  });

  const rows: readonly (readonly [title: string, defaultFilter: string, variable: string, shown: readonly string[]])[] =
    [
      ["a blank variable: the default", "info", " ", ["other info"]],
      ["a variable that parses: the variable", "off", "other=debug", ["other debug", "other info"]],
      ["a variable that parses, and a default that does not", "!", "shop", ["shop debug"]],
      ["a variable that does not parse: a warning, the default", "info", "!", ["warning: RUST_L", "other info"]],
      ["neither parses: two warnings, info", "!", "?", ["warning: RUST_L", "warning: the de", "other info"]],
    ];
  for (const [title, defaultFilter, variable, shown] of rows) {
    it(`takes ${title}`, async () => {
      const found = await messages(defaultFilter, { NODE_ENV: "production", RUST_LOG: variable });

      expect(found.map((message) => message.slice(0, 15))).to.deep.equal(shown);
    });
  }

  it("throws on a second call, and the first log stays", async () => {
    const { stdout, stderr } = await runProgram(
      `${emit} installLogging("info");
       try { installLogging("trace"); } catch (error) { console.log(error instanceof ObserveError, error.code); }
       ${events}`,
      { NODE_ENV: "production" },
    );

    expect(stdout).to.equal("true E_LOGGING_INSTALLED\n");
    expect(stderr.trimEnd().split("\n")).to.have.lengthOf(1);
  });

  it("adds the given layers", async () => {
    const { stdout } = await runProgram(
      `${emit} installLogging("info", { onEvent: ({ message }) => console.log(message) }); ${events}`,
    );

    expect(stdout).to.equal("other info\n");
  });

  it("is overridden by withSubscriber", async () => {
    const { stdout, stderr } = await runProgram(
      `${emit} installLogging("info");
       const layer = { onEvent: ({ message }) => console.log(message) };
       tracing.withSubscriber(tracing.registry().with(layer), () => { ${events} });`,
    );

    expect(stdout).to.equal("shop debug\nother debug\nother info\n");
    expect(stderr).to.equal("");
  });

  it("still logs while the process exits", async () => {
    const { stderr, code } = await runProgram(
      `${emit} installLogging("info"); process.on("exit", () => other.info("on the way out")); process.exit(3);`,
    );

    expect(stderr).to.contain("on the way out\n");
    expect(code).to.equal(3);
  });

  it("is not called by an import", async () => {
    const { stdout, stderr } = await runProgram(`${emit} console.log(log.enabled("error"));`);

    expect([stdout, stderr]).to.deep.equal(["false\n", ""]);
  });
});
