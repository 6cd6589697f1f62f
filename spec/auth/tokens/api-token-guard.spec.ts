/** The guard `apiToken`: which headers it reads, whom it refuses and how, and the client of a test that sends a token. */
import { Application, Get, Module, Route, Routes, routes } from "@stagecraft/framework";
import { ApiTokens, authentication } from "@stagecraft/framework/auth";
import { apiToken, maybeSignedIn, role } from "@stagecraft/framework/auth/guards";
import { expectProblem, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { rejectionOf } from "../../support/rejection-of.js";
import { startupErrorOf } from "../../support/startup-error-of.js";
import { AppUsers, buildAccounts, KEY } from "../account-application.js";
import { api, createToken, send, sendToken, startTokens, tokens } from "./token-application.js";

const challengeOf = (response: Response) => response.headers.get("www-authenticate");

describe("apiToken", () => {
  let app: TestApp;
  let text: string;
  let tokenId: string;

  before(async () => {
    app = await startTokens();
    const created = await createToken(app);
    text = created.text;
    tokenId = created.token.id;
  });
  after(() => app.stop());

  it("adds the user, the token and its scopes", async () => {
    const identity = await (await sendToken(app, text)).json();

    expect(identity).to.deep.equal({ userId: "ada", tokenId, scopes: ["links:read"] });
  });

  for (const scheme of ["Bearer ", "bearer ", "BEARER ", "bEaReR    "])
    it(`reads the header ${JSON.stringify(scheme)}`, async () => {
      expect((await send(app, scheme + text)).status).to.equal(200);
    });

  it("asks a request without a token for one, without an error code", async () => {
    for (const headers of [
      {},
      { authorization: "" },
      { authorization: `Basic ${text}` },
      { authorization: `Bearer${text}` },
      { authorization: text },
    ]) {
      const response = await app.get(api.whoami.url(), { headers });

      await expectProblem(response, { status: 401, slug: "authentication" });
      expect(challengeOf(response)).to.equal('Bearer realm="api"');
    }
  });

  it("reads no token of the query or of a cookie", async () => {
    const response = await app.get(`${api.whoami.url()}?access_token=${text}`, {
      headers: { cookie: `token=${text}` },
    });

    expect(response.status).to.equal(401);
  });

  const invalid = (): readonly string[] => [
    "Bearer",
    "Bearer x",
    `Bearer ${text}x`,
    `Bearer ${text} x`,
    `Bearer ${text},${text}`,
    `Bearer "${text}"`,
    `Bearer\t${text}`.replace("\t", " \t"),
    `Bearer ${text.slice(0, -1)}`,
    `Bearer ${text.replace("sct_", "SCT_")}`,
    `Bearer ${"x".repeat(8000)}`,
    // A letter that no base62 has, as bytes of UTF-8 and as one of Latin-1.
    `Bearer ${text.slice(0, -1)}é`,
    `Bearer ${text.slice(0, -2)}Ã©`,
    `Bearer ${text.slice(0, -1)}\u007e`,
    // Well formed, with a checksum of another text.
    `Bearer ${text.slice(0, 5)}${text.charAt(5) === "x" ? "y" : "x"}${text.slice(6)}`,
  ];
  it("refuses a token that is none", async () => {
    for (const header of invalid()) {
      const response = await send(app, header);

      await expectProblem(response, { status: 401, slug: "authentication" });
      expect(challengeOf(response), header).to.equal('Bearer realm="api", error="invalid_token"');
    }
  });

  it("reads a token with blanks after it, and none of a form", async () => {
    const head = `GET ${api.whoami.url()} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
    const trailing = String(await app.raw(`${head}Authorization: Bearer ${text} \t \r\n\r\n`));
    const form = await app.post(api.write.url(), { form: { access_token: text } });

    expect(trailing).to.match(/^HTTP\/1.1 200/);
    expect([form.status, challengeOf(form)]).to.deep.equal([401, 'Bearer realm="api"']);
  });

  it("reads one header of the two of which the first has another scheme, and refuses", async () => {
    const response = await send(app, ["Basic YTpi", `Bearer ${text}`]);

    expect([response.status, challengeOf(response)]).to.deep.equal([401, 'Bearer realm="api"']);
  });

  it("guards HEAD as GET, and OPTIONS asks for no token and runs no handler", async () => {
    const url = api.whoami.url();
    const headers = { authorization: `Bearer ${text}` };
    const [refused, passed] = [await app.head(url), await app.head(url, { headers })];
    const options = await app.request(url, { method: "OPTIONS" });

    expect([refused.status, challengeOf(refused), passed.status]).to.deep.equal([401, 'Bearer realm="api"', 200]);
    expect(await refused.text()).to.equal("");
    expect(await options.text()).to.not.include("userId");
    expect(options.status).to.be.below(300);
  });

  it("refuses a header of 100 kB", async () => {
    const head = `GET ${api.whoami.url()} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${"x".repeat(100_000)}\r\n\r\n`;

    expect(String(await app.raw(head))).to.match(/^HTTP\/1\.1 431 /);
  });

  it("refuses two headers, of which a proxy may have read the other one", async () => {
    for (const headers of [
      [`Bearer ${text}`, "Bearer x"],
      [`Bearer ${text}`, `Bearer ${text}`],
    ]) {
      const response = await send(app, headers);

      await expectProblem(response, { status: 400 });
      expect(challengeOf(response)).to.equal('Bearer realm="api", error="invalid_request"');
    }
  });

  it("refuses a token without the scope, and names the scope", async () => {
    expect((await sendToken(app, text, api.read.url())).status).to.equal(200);

    const response = await app.post(api.write.url(), { headers: { authorization: `Bearer ${text}` } });

    await expectProblem(response, { status: 403, slug: "scope" });
    expect(challengeOf(response)).to.equal('Bearer realm="api", error="insufficient_scope", scope="links:write"');
  });

  it("compares a scope as it is: not its case, not its start, and not one that contains it", async () => {
    for (const scope of ["links:Write", "links", "links:write2", "links:/", "links:writ"]) {
      const { text: other } = await createToken(app, "ada", { scopes: [scope] });
      const response = await app.post(api.write.url(), { headers: { authorization: `Bearer ${other}` } });

      expect(response.status, scope).to.equal(403);
    }
  });

  it("is a guard before role, which asks for the roles of the user of the token", async () => {
    const refused = await sendToken(app, text, api.admin.url());
    await expectProblem(refused, { status: 403, slug: "role" });

    app.resolve(AppUsers).roles.set("ada", ["admin"]);
    expect(await (await sendToken(app, text, api.admin.url())).json()).to.include({ userId: "ada", tokenId });
    expect((await app.get(api.admin.url())).status).to.equal(401);
  });

  it("lets no session pass, and signedIn no token", async () => {
    const session = await app.actingAs("ada");

    expect((await session.get(api.whoami.url())).status).to.equal(401);
    expect((await sendToken(app, text, tokens.list.url())).status).to.equal(401);
  });
});

describe("an application with apiToken", () => {
  it("needs authentication()", async () => {
    const bare = routes("bare", "/", { show: Get("/", { guards: [apiToken] }) });
    @Module({})
    class Bare {}

    const builder = Application.create(Bare).routes(new Routes([Route.of(bare.show, () => "shown")]));

    expect(startupErrorOf(() => builder.build()).message).to.include("api-token");
  });
});

describe("a route with role", () => {
  const rows = [
    ["alone", [role("admin")]],
    ["after maybeSignedIn", [maybeSignedIn, role("admin")]],
    ["before apiToken", [role("admin"), apiToken]],
  ] as const;
  for (const [where, guards] of rows)
    it(`does not start with it ${where}`, () => {
      const pages = routes("pages", "/", { show: Get("/", { guards }) });
      const builder = buildAccounts().routes(new Routes([Route.of(pages.show, () => "shown")]));

      expect(startupErrorOf(() => builder.build()).message).to.include(
        "the guard role reads the values of the guard signed-in or api-token, which does not run before it",
      );
    });
});

describe("authentication({ tokens })", () => {
  const rows = [
    ["an unknown option", { prefx: "shop" }, "E_OPTION"],
    ["a prefix with a dash", { prefix: "shop-test" }, "E_AUTH_OPTION"],
    ["a number for a prefix", { prefix: 7 }, "E_AUTH_OPTION"],
  ] as const;
  for (const [what, options, code] of rows)
    it(`refuses ${what}`, () => {
      expect(() => authentication({ users: AppUsers, keys: KEY, tokens: options as never }))
        .to.throw()
        .with.property("code", code);
    });
});

describe("a client that acts as a user by a token", () => {
  it("sends a token with the scopes, which the application has created", async () => {
    await using app = await startTokens();
    const program = await app.actingAs("ada", { scopes: ["links:write"] });

    expect((await program.post(api.write.url())).status).to.equal(200);
    expect((await program.get(api.read.url())).status).to.equal(403);
    expect((await program.get(tokens.list.url())).status).to.equal(401);
    expect(await program.client(api).whoami()).to.include({ userId: "ada" });
    expect(await app.resolve(ApiTokens).list("ada")).to.have.lengthOf(1);
    const headers = { authorization: "Bearer x" };
    expect((await program.get(api.whoami.url(), { headers })).status).to.equal(401);
  });

  it("needs no sessions, but tokens", async () => {
    await using app = await testApp(Application.create());

    expect((await rejectionOf(app.actingAs("ada", { scopes: [] }))).message).to.include("ApiTokens");
  });
});
