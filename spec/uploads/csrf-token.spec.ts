/** The CSRF token in a field of a form with files: the stage reads the form before the handler, and only where the cookie is there. */
import { Application, type Context, provide, Route, Routes } from "@stagecraft/framework";
import { CsrfConfig, CsrfToken } from "@stagecraft/framework/session";
import { testApp } from "@stagecraft/framework/testing";
import { Uploads } from "@stagecraft/framework/uploads";
import { expect } from "chai";
import { fileOf, formBytes, headOf, UploadApp } from "../support/multipart.js";
import { until } from "../support/until.js";

const guarded = (): Promise<UploadApp> =>
  UploadApp.start(
    async (ctx) => Object.entries(await ctx.uploads()).length,
    { fileBytes: 1000 },
    (builder) =>
      builder
        .csrf(new CsrfConfig())
        .routes(new Routes([Route.get("/token", (ctx: Context) => CsrfToken.of(ctx).masked())])),
  );

async function tokenOf({ app }: UploadApp): Promise<{ readonly token: string; readonly cookie: string }> {
  const answer = await app.get("/token");
  return { token: await answer.text(), cookie: answer.headers.getSetCookie().join().split(";", 1)[0] ?? "" };
}

describe("the CSRF token of a form with files", () => {
  it("is found in its field at any place in the form, and the handler reads the form", async () => {
    await using uploads = await guarded();
    const { token, cookie } = await tokenOf(uploads);
    const field = { name: "_token", content: token };

    for (const parts of [
      [field, fileOf(10)],
      [fileOf(10), field],
    ]) {
      const answer = await uploads.post(formBytes(...parts), undefined, { cookie });
      expect([answer.status, await answer.text()]).to.deep.equal([200, "2"]);
    }
    await until(() => uploads.files().length === 0);
  });

  for (const [what, parts] of [
    ["no token", []],
    ["a wrong token", [{ name: "_token", content: "x".repeat(86) }]],
    ["a token in a file", [{ name: "_token", filename: "a", content: "x".repeat(86) }]],
  ] as const) {
    it(`refuses ${what} with 403, and keeps no file`, async () => {
      await using uploads = await guarded();
      const { cookie } = await tokenOf(uploads);

      const answer = await uploads.post(formBytes(fileOf(10), ...parts), undefined, { cookie });

      expect(answer.status).to.equal(403);
      await until(() => uploads.files().length === 0);
    });
  }

  it("is not read without the cookie, and neither is the body", async () => {
    await using uploads = await guarded();

    const answer = await uploads.app.raw(headOf(500_000));

    expect(String(answer)).to.match(/^HTTP\/1\.1 403 [\s\S]*missing CSRF cookie/);
    expect(uploads.files()).to.deep.equal([]);
  });

  it("has the limits of the application, and the error of the reader beyond them", async () => {
    await using uploads = await guarded();
    const { token, cookie } = await tokenOf(uploads);

    const answer = await uploads.post(formBytes(fileOf(1001), { name: "_token", content: token }), undefined, {
      cookie,
    });

    expect(answer.status).to.equal(413);
    await until(() => uploads.files().length === 0);
  });

  it("is taken from the header if there is one, before the form is read", async () => {
    await using app = await testApp(
      Application.create()
        .csrf(new CsrfConfig())
        .provide(provide(Uploads).useValue(new Uploads()))
        .routes(new Routes([Route.any("/", (ctx: Context) => CsrfToken.of(ctx).masked())])),
    );
    const answer = await app.get("/");
    const cookie = answer.headers.getSetCookie().join().split(";", 1)[0] ?? "";
    const headers = { cookie, "x-csrf-token": await answer.text() };

    expect((await app.post("/", { headers, body: new FormData() })).status).to.equal(200);
  });
});
