import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { application, HelloModule } from "../../samples/hello/main.js";
import { Child } from "../support/child.js";
import { ROOT } from "../support/sources.js";

describe("samples/hello", () => {
  it("answers hello", async () => {
    await using app = await testApp(HelloModule);

    const response = await app.get("/");

    expect([response.status, await response.text()]).to.deep.equal([200, "Hello, world!\n"]);
    expect(app.application.routes().urlFor("hello")).to.equal("/");
  });

  it("has only the stages on that are always on", () => {
    const rows = application().pipeline();

    expect(rows.filter(({ on }) => on).map(({ slot }) => slot)).to.deep.equal(["health", "redirectMapper", "router"]);
  });

  it("serves when it is run through a link", async () => {
    const folder = mkdtempSync(join(tmpdir(), "stagecraft-"));
    symlinkSync(ROOT, join(folder, "link"));
    await using child = await Child.start(join(folder, "link/dist/samples/hello/main.js"));

    await child.says("listening", "errors");
    rmSync(folder, { recursive: true });

    expect((await fetch(child.url)).status).to.equal(200);
  });

  it("serves only when it is run", async () => {
    await using child = await Child.start("../../samples/hello/main.js");
    await child.says("listening", "errors");

    const response = await fetch(child.url);

    expect(await response.text()).to.equal("Hello, world!\n");
  });
});
