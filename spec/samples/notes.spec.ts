import { expect } from "chai";
import { ApplicationBuilder, STAGES } from "@stagecraft/framework";
import { expectProblem } from "@stagecraft/framework/testing";
import { Child } from "../support/child.js";
import { textOf } from "../support/sources.js";

/** A bearer token exempts a program from the CSRF check. */
const JSON_OF_A_PROGRAM = { "Content-Type": "application/json", Authorization: "Bearer of-a-program" };

const MAIN = "../../samples/notes/main.js";

describe("samples/notes", function () {
  this.timeout(60_000);
  let child: Child;
  const ask = (path: string, options?: RequestInit) => fetch(child.url + path, options);
  const add = (note: unknown) =>
    ask("/notes", { method: "POST", headers: JSON_OF_A_PROGRAM, body: JSON.stringify(note) });

  before(async () => {
    child = await Child.start(MAIN);
    await child.serves();
  });

  after(async () => {
    await child[Symbol.asyncDispose]();
  });

  it("calls every method of the builder that switches a stage on", () => {
    const code = textOf("samples/notes/app.ts") ?? "";
    const methods = STAGES.map(({ slot }) => (slot === "layers" ? "layer" : slot)).filter(
      (name) => name in ApplicationBuilder.prototype,
    );

    const called = methods.filter((name) => new RegExp(`^  \\.${name}(Prefix)?\\(`, "m").test(code));

    expect(methods).to.include.members(["proxy", "compression", "staticFiles"]);
    expect(called).to.deep.equal(methods);
  });

  it("adds, shows and lists notes", async () => {
    const added = await add({ text: "milk" });
    const shown = await ask(added.headers.get("location") ?? "");
    const listed = await ask("/n");

    expect([added.status, shown.status, listed.status]).to.deep.equal([201, 200, 200]);
    expect([await shown.json(), await listed.json()]).to.deep.equal([
      { id: 1, text: "milk" },
      [{ id: 1, text: "milk" }],
    ]);
  });

  it("responds to faults of the client with problems", async () => {
    await expectProblem(await add({ text: "" }), { status: 422, slug: "validation" });
    await expectProblem(await add({ text: "x".repeat(20_000) }), { status: 413, slug: "payload-too-large" });
    await expectProblem(await ask("/notes/99"), { status: 404, slug: "not-found" });
  });

  it("has the headers of its stages on its responses", async () => {
    const { headers } = await ask("/notes", { headers: { Origin: "http://localhost:5173" } });

    expect(Object.fromEntries(headers)).to.include({
      "access-control-allow-origin": "http://localhost:5173",
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'",
      "ratelimit-limit": "20",
      "x-content-type-options": "nosniff",
    });
    expect(headers.get("x-request-id")).to.match(/^[\da-f-]{36}$/);
  });

  it("serves files, metrics and health, and leads to the notes", async () => {
    const responses = await Promise.all(["/robots.txt", "/metrics", "/up", "/"].map((path) => ask(path)));

    expect(responses.map(({ status, url }) => `${status} ${new URL(url).pathname}`)).to.deep.equal([
      "200 /robots.txt",
      "200 /metrics",
      "200 /up",
      "200 /notes",
    ]);
  });

  it("logs each new note in its listener, and refuses one more than ten until one is removed", async () => {
    const seen: Response[] = [];
    while (seen.at(-1)?.status !== 409 && seen.length <= 10) seen.push(await add({ text: "bread" }));
    // JSON of the sample.
    const listed = (await (await ask("/notes")).json()) as readonly { readonly id: number }[];
    const removed = await ask("/notes/2", { method: "DELETE", headers: JSON_OF_A_PROGRAM });
    const again = await add({ text: "eggs" });

    expect([listed.length, seen.at(-1)?.status, removed.status, again.status]).to.deep.equal([10, 409, 204, 201]);
    expect(again.headers.get("location")).to.equal("/notes/11");
    await child.says("note added id=11", "errors");
    expect(child.errors).to.include("listener=Journal.write");
  });
});
