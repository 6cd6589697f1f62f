import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { z } from "zod";
import { Application } from "../../../lib/app/application.js";
import { UnauthorizedError } from "../../../lib/errors/framework-error.js";
import type { Context } from "../../../lib/http/request/context.js";
import type { Next } from "../../../lib/http/middleware.js";
import { Route } from "../../../lib/routing/route.js";
import { Routes } from "../../../lib/routing/routes.js";
import { Maintenance } from "../../../lib/stages/maintenance/maintenance.js";
import { Pages } from "../../../lib/stages/pages/pages.js";
import { precognitive } from "../../../lib/stages/pages/protocol/precognition.js";
import { testApp } from "../../../lib/testing/test-app.js";
import { provide } from "../../../lib/di/provide.js";
import { UploadedFile, Uploads } from "../../../lib/entries/uploads.js";
import { PNG } from "../../support/multipart.js";
import { until } from "../../support/until.js";

const NewLink = z.object({
  target: z.string().url("is not a URL"),
  slug: z
    .string()
    .min(3, "is too short")
    .regex(/^[a-z]+$/, "has strange letters"),
  tags: z.array(z.object({ name: z.string().min(1, "is empty") })).default([]),
});

const ASK = { Precognition: "true", Accept: "application/json" };
const VALID = { target: "https://example.com/", slug: "abc" };
const INVALID = { target: "x", slug: "A", tags: [{ name: "" }, { name: "b" }, { name: "" }] };

const signedIn = (ctx: Context, next: Next) => {
  if (ctx.get("X-User") === "nobody") throw new UnauthorizedError("who are you?");
  return next();
};

function application(handled: string[] = []) {
  const handle = ({ path }: Context): string => {
    handled.push(path);
    return "done";
  };
  return Application.create()
    .routes(
      new Routes([
        Route.post("/links", handle).middleware(signedIn, precognitive(NewLink)),
        Route.get("/links", handle).middleware(precognitive(z.object({ q: z.string().min(2, "is too short") }))),
        Route.post("/plain", handle),
      ]),
    )
    .pages(new Pages());
}

describe("a precognition", () => {
  const rows: readonly (readonly [what: string, only: string | undefined, body: unknown, errors: unknown])[] = [
    ["succeeds for valid fields", undefined, VALID, undefined],
    [
      "checks all fields without a list",
      undefined,
      INVALID,
      {
        target: ["is not a URL"],
        slug: ["is too short", "has strange letters"],
        "tags.0.name": ["is empty"],
        "tags.2.name": ["is empty"],
      },
    ],
    ["checks the fields of the list", "target", INVALID, { target: ["is not a URL"] }],
    ["succeeds where the fields of the list are valid", "target", { ...INVALID, target: VALID.target }, undefined],
    ["takes * for one segment", "tags.*.name", INVALID, { "tags.0.name": ["is empty"], "tags.2.name": ["is empty"] }],
    [
      "does not take * for more segments",
      "*",
      INVALID,
      { target: ["is not a URL"], slug: ["is too short", "has strange letters"] },
    ],
    ["takes no other character for a pattern", "t.rget,slu?", INVALID, undefined],
    ["takes no name for a regular expression", "(s+)+$,[,\\,tags..name,__proto__", INVALID, undefined],
    ["succeeds for a list without a match", "unknown", INVALID, undefined],
  ];
  for (const [what, only, json, errors] of rows) {
    it(`${what}, without the handler`, async () => {
      const handled: string[] = [];
      await using app = await testApp(application(handled));
      const headers = only === undefined ? ASK : { ...ASK, "Precognition-Validate-Only": only };

      const response = await app.post("/links", { json, headers });

      expect(response.headers.get("precognition")).to.equal("true");
      expect(response.headers.get("vary")).to.equal("Precognition, X-Inertia");
      expect(handled).to.deep.equal([]);
      if (errors === undefined) {
        expect([response.status, response.headers.get("precognition-success")]).to.deep.equal([204, "true"]);
      } else {
        expect([response.status, response.headers.get("precognition-success")]).to.deep.equal([422, null]);
        expect(await response.json()).to.deep.equal({ message: "The given data was invalid.", errors });
      }
    });
  }

  it("reads the fields of a form, and those of a query", async () => {
    await using app = await testApp(application());

    const form = await app.post("/links", { form: VALID, headers: ASK });
    const query = [await app.get("/links?q=ab", { headers: ASK }), await app.get("/links?q=a", { headers: ASK })];

    expect([form, ...query].map(({ status }) => status)).to.deep.equal([204, 204, 422]);
  });

  it("goes through the policies of the route", async () => {
    await using app = await testApp(application());

    const response = await app.post("/links", { json: VALID, headers: { ...ASK, "X-User": "nobody" } });

    expect([response.status, response.headers.get("precognition")]).to.deep.equal([401, "true"]);
  });

  it("is marked on every response, also if an outer stage refuses", async () => {
    await using app = await testApp(application().maintenance(Maintenance.engaged()).catchPanic());

    const response = await app.post("/links", { json: VALID, headers: ASK });

    expect([response.status, response.headers.get("precognition")]).to.deep.equal([503, "true"]);
  });

  it("is refused by a route without a schema, whose handler does not run", async () => {
    const handled: string[] = [];
    await using app = await testApp(application(handled));

    const response = await app.post("/plain", { json: VALID, headers: ASK });

    expect([response.status, handled]).to.deep.equal([400, []]);
    expect(response.headers.get("precognition")).to.equal("true");
  });

  it("is refused with a list that is too long", async () => {
    await using app = await testApp(application());

    for (const list of ["a,".repeat(8000), Array.from({ length: 65 }, (_, at) => `f${at}`).join(",")]) {
      const headers = { ...ASK, "Precognition-Validate-Only": list.slice(0, 15_000) };
      expect((await app.post("/links", { json: VALID, headers })).status).to.be.oneOf([400, 431]);
    }
  });

  it("is not recognised by another value of the header", async () => {
    await using app = await testApp(application());

    const response = await app.post("/links", { json: VALID, headers: { ...ASK, Precognition: "1" } });

    expect([response.status, await response.text()]).to.deep.equal([200, "done"]);
    expect(response.headers.get("precognition")).to.equal(null);
    expect(response.headers.get("vary")).to.equal("Precognition, X-Inertia");
  });
});

function formOf(slug: string, content: Buffer | string): FormData {
  const fields = new FormData();
  fields.append("slug", slug);
  fields.append("picture", new Blob([new Uint8Array(Buffer.from(content))], { type: "image/png" }), "a.png");
  return fields;
}

describe("a precognition with a file", () => {
  const NewPicture = z.object({
    slug: z.string().min(3, "is too short"),
    picture: z.instanceof(UploadedFile).refine((file) => file.hasType("image/png"), "is not a picture"),
  });
  const pictures = (): ReturnType<typeof application> =>
    application().routes(new Routes([Route.post("/pictures", () => "done").middleware(precognitive(NewPicture))]));

  it("checks the form as the handler would see it, and leaves no file behind", async () => {
    const directory = mkdtempSync(join(tmpdir(), "precognition-"));
    await using app = await testApp(pictures(), provide(Uploads).useValue(new Uploads({ directory })));

    const valid = await app.post("/pictures", { headers: ASK, body: formOf("abc", PNG) });
    const invalid = await app.post("/pictures", { headers: ASK, body: formOf("a", "<script>") });

    expect(valid.status).to.equal(204);
    expect(invalid.status).to.equal(422);
    expect((await invalid.json<{ errors: unknown }>()).errors).to.deep.equal({
      slug: ["is too short"],
      picture: ["is not a picture"],
    });
    await until(() => readdirSync(directory, { recursive: true, withFileTypes: true }).every((each) => !each.isFile()));
    rmSync(directory, { recursive: true });
  });

  it("is refused with 415 in an application that reads no files", async () => {
    await using app = await testApp(pictures());

    const response = await app.post("/pictures", { headers: ASK, body: formOf("abc", PNG) });

    expect([response.status, response.headers.get("precognition")]).to.deep.equal([415, "true"]);
  });
});
