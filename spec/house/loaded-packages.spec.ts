/**
 * What a process loads until its first response, package by package: a package that is loaded for a feature that is off, or that no request
 * has used yet, makes each start slower. A new package needs a row with its reason.
 */
import { expect } from "chai";
import { buildFrontEnd } from "../../samples/links/build-front-end.js";
import { Child } from "../support/child.js";
import { LoadedModules } from "../support/loaded-modules.js";

/** Every application needs them. */
const HELLO: Readonly<Record<string, string>> = {
  koa: "the application, its context and its middleware",
  cookies: "the cookies of a context, also of Koa",
  vary: "the header Vary, also of Koa",
  "mime-types": "the media types of files, also of Koa",
  tsyringe: "builds the instances of an application",
  "reflect-metadata": "the types of constructors, for tsyringe",
  tslib: "of tsyringe",
  ...Object.fromEntries(
    [
      ["accepts", "content-disposition", "content-type", "delegates", "destroy", "encodeurl", "escape-html"],
      ["fresh", "http-assert", "http-errors", "koa-compose", "on-finished", "parseurl", "statuses", "type-is"],
    ]
      .flat()
      .map((name) => [name, "of koa"]),
  ),
  "mime-db": "of mime-types",
  negotiator: "of accepts",
  "media-typer": "of type-is",
  "deep-equal": "of http-assert",
  "ee-first": "of on-finished",
  depd: "of cookies and http-errors",
  inherits: "of http-errors",
  setprototypeof: "of http-errors",
  toidentifier: "of http-errors",
  keygrip: "of cookies",
  tsscmp: "of keygrip",
};

/** samples/links has these beside them. It loads the packages of passkeys and of its guide at their first use. */
const LINKS: Readonly<Record<string, string>> = {
  ...HELLO,
  kysely: "the tables are migrated before the first request",
  zod: "the schemas of the sample",
  busboy: "reads forms with files",
  streamsearch: "of busboy",
  "@fluent/bundle": "the catalogs are checked before the first request",
  croner: "the next run of a schedule",
  "swagger-ui-dist": "the folder of the viewer",
  // A Node with `node:sqlite` needs no package.
  ...(process.getBuiltinModule("node:sqlite") === undefined && {
    "@photostructure/sqlite": "the engine of the database",
    "node-gyp-build": "of @photostructure/sqlite",
  }),
};

/** The first response is that of the readiness probe. */
async function listLoaded(program: string, environment: NodeJS.ProcessEnv = {}) {
  using loaded = new LoadedModules();
  await using child = await Child.start(program, { NODE_ENV: "production", ...loaded.env, ...environment });
  await child.serves();
  const { status } = await fetch(`${child.url}/up/ready`);
  child.kill("SIGTERM");
  await child.exitCode();
  return { status, packages: loaded.listPackages(), ofNode: loaded.listModulesOfNode() };
}

describe("until its first response, an application loads", function () {
  this.timeout(120_000);

  it("only the packages of Koa and of the container", async () => {
    const { status, packages, ofNode } = await listLoaded("../../samples/hello/main.js");

    expect(status).to.equal(200);
    expect(packages).to.deep.equal(Object.keys(HELLO).toSorted());
    // An import of node:http or of the global fetch would load it: a tenth of the start.
    expect(ofNode.filter((name) => name.includes("undici"))).to.deep.equal([]);
    expect(ofNode).to.include("http");
  });

  it("only the packages that it needs before the first request", async () => {
    await buildFrontEnd();

    const { status, packages, ofNode } = await listLoaded("../../samples/links/main.js", {
      DATABASE_FILE: ":memory:",
      SESSION_KEY: "ab".repeat(64),
    });

    expect(status).to.equal(200);
    expect(packages).to.deep.equal(Object.keys(LINKS).toSorted());
    expect(ofNode.filter((name) => name.includes("undici"))).to.deep.equal([]);
  });
});
