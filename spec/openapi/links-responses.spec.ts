/** The responses of `samples/links` by its own document: each public operation, also as programs, browsers and forms misuse it. */
import { testApp, type TestApp, type TestClient } from "@stagecraft/framework/testing";
import { createOpenApi, type OpenApiDocument } from "@stagecraft/framework/openapi";
import { expect } from "chai";
import { API_DOCS } from "../../samples/links/api-docs.js";
import { linksApplication } from "../../samples/links/application.js";
import { settingsFrom } from "../../samples/links/settings.js";
import { JudgedResponses } from "../support/judged-responses.js";
import { inertia } from "../support/page-visit.js";
import { findMailPath, PASSWORD } from "../support/sample-people.js";
import { until } from "../support/until.js";
import { PNG } from "../support/multipart.js";

const TARGET = "https://example.com/";
const PROGRAM = { Authorization: "Bearer of-a-program" };
const ACCOUNT_PAGES = [
  "sign-up",
  "sign-up/none",
  "sign-in",
  "second-step",
  "forgot",
  "reset/none",
  "confirm",
  "",
  "security",
  "totp",
  "recovery-codes",
  "tokens",
].map((path) => `/account/${path}`.replace(/\/$/, ""));
const BROWSER = { Accept: "text/html,*/*;q=0.8" };

describe("the document of samples/links", function () {
  this.timeout(120_000);
  let app: TestApp;
  let document: OpenApiDocument;

  before(async () => {
    app = await testApp(linksApplication(settingsFrom({ REQUESTS_PER_SECOND: "1000" })));
    document = await (await app.get("/openapi.json")).json<OpenApiDocument>();
  });
  after(() => app?.stop());

  it("has words for every operation and every tag, and no path of operators", () => {
    const operations = Object.values(document.paths).flatMap((item) => Object.values(item)) as readonly {
      readonly operationId: string;
      readonly summary: string;
      readonly description?: string;
    }[];

    expect(operations).to.have.length.above(15);
    expect(
      operations.filter(({ operationId, summary, description }) => summary === operationId || !description),
    ).to.deep.equal([]);
    expect(document.tags.filter(({ description }) => description === undefined)).to.deep.equal([]);
    expect(document.tags[0]).to.include({ name: "links" });
    expect(
      Object.keys(document.paths).filter((path) => /^\/(admin|metrics|status|guide|dev)\b/.test(path)),
    ).to.deep.equal([]);
    expect(document).to.deep.equal(createOpenApi(app.application, API_DOCS));
  });

  it("is that of the responses to programs, people and strangers", async () => {
    const judged = new JudgedResponses(document).start();
    try {
      await callAsProgram(app);
      await visitAsPerson(await app.actingAs("ada"));
      await misuse(app);
      await exceedQuota();
      await signUp(app, app.withCsrf());
      await until(() => judged.operations.has("ranking.live"));
    } finally {
      judged.stop();
    }

    expect(judged.faults).to.deep.equal([]);
    const ids = Object.keys(Object(API_DOCS.texts)).filter((name) => name.includes(".") || name === "visit");
    expect([...judged.operations]).to.have.members(ids);
    expect([...judged.statuses]).to.include.members([200, 201, 204, 302, 303, 400, 401, 403, 404, 409, 415, 422, 429]);
  });
});

async function callAsProgram(app: TestApp): Promise<void> {
  const add = (json: unknown) => app.post("/api/links", { headers: PROGRAM, json });
  await add({ target: TARGET, slug: "tea" });
  await add({ target: TARGET, slug: "tea" });
  await app.post("/api/links", { headers: { ...PROGRAM, ...BROWSER }, json: { target: TARGET, slug: "tea" } });
  await add({ target: "none" });
  await app.post("/api/links", { json: { target: TARGET } });
  for (const path of ["/api/links", "/api/links/tea", "/api/links/none", "/api/most-visited", "/to/tea", "/about"]) {
    await app.get(path);
    await app.head(path);
    await app.get(path, { headers: { "Accept-Encoding": "gzip" } });
  }
  const leaving = new AbortController();
  await app.get("/api/most-visited/live", { signal: leaving.signal });
  leaving.abort();
  await app.delete("/api/own-links/tea", { headers: PROGRAM });
  for (const scopes of [["links:read"], ["links:write"], ["links:read", "links:write"]]) {
    const program = await app.actingAs("ada", { scopes });
    await program.post("/api/own-links", { json: { target: TARGET, slug: "own" } });
    await program.post("/api/own-links", { json: { target: "none" } });
    await program.get("/api/own-links");
    await program.delete("/api/own-links/own");
    await program.delete("/api/own-links/own");
  }
}

async function visitAsPerson(ada: TestClient): Promise<void> {
  await ada.post("/shorten", { form: { target: TARGET, slug: "mine" } });
  await ada.post("/shorten", { json: { target: "none" } });
  const precognition = { Precognition: "true", Accept: "application/json" };
  await ada.post("/shorten", { headers: precognition, json: { target: TARGET, slug: "free" } });
  await ada.post("/shorten", { headers: precognition, json: { target: TARGET, slug: "mine" } });
  const logo = new FormData();
  logo.append("logo", new Blob([new Uint8Array(PNG)], { type: "image/png" }), "logo.png");
  await ada.post("/links/mine/logo", { body: logo });
  await ada.get("/language?lang=de&to=/", { headers: BROWSER });
  for (const path of ["/", "/?page=none", "/links/mine", "/most-visited", ...ACCOUNT_PAGES]) {
    await ada.get(path, { headers: BROWSER });
    // Without a version the front end is of an earlier build.
    await ada.get(path, { headers: inertia() });
  }
  await ada.get("/links/mine/logo");
  await ada.post("/remove/mine", { form: {} });
  await changeAccount(ada);
  await ada.post("/account/sign-out", { form: {} });
}

/** Refusals of the pipeline and of guards, as problems and as pages. */
async function misuse(app: TestApp): Promise<void> {
  for (const headers of [BROWSER, { Accept: "application/json" }]) {
    for (const path of ["/to/none", "/to/No.1", "/links/none", "/links/none/logo", "/api/links/%zz"])
      await app.get(path, { headers });
    await app.post("/shorten", { headers, form: { target: TARGET } });
    await app.post("/remove/none", { headers: { ...headers, ...PROGRAM } });
    await app.post("/api/links", { headers: { ...headers, ...PROGRAM }, body: "text" });
  }
  const stranger = app.withCsrf();
  await stranger.post("/shorten", { form: { target: TARGET } });
  await stranger.post("/account/sign-in", { body: "{", headers: { "content-type": "application/json" } });
}

async function exceedQuota(): Promise<void> {
  await using app = await testApp(linksApplication(settingsFrom({ REQUESTS_PER_HOUR: "1" })));
  for (const headers of [{}, BROWSER, inertia(), {}, BROWSER, inertia()]) await app.get("/most-visited", { headers });
}

/** The forms of a person who has signed in. Those that change the second step need an identity. */
async function changeAccount(ada: TestClient): Promise<void> {
  const response = {};
  await ada.post("/account/totp", { form: {} });
  await ada.post("/account/totp", { form: { code: "000000" } });
  await ada.post("/account/totp/remove", { form: {} });
  await ada.post("/account/passkeys", { json: { response, usage: "sign-in", name: "Phone" } });
  await ada.post("/account/passkeys/none", { form: {} });
  await ada.post("/account/tokens", { form: { name: "CI", access: "write", days: "30" } });
  await ada.post("/account/tokens", { form: { name: "" } });
  await ada.post("/account/tokens/none", { form: {} });
  await ada.post("/account/devices/none", { form: {} });
  await ada.post("/account/devices/others", { form: {} });
  await ada.post("/account/confirm", { form: { password: PASSWORD } });
}

async function signUp(app: TestApp, browser: TestClient): Promise<void> {
  const email = "eve@example.org";
  await browser.post("/account/sign-up", { form: { email: "e" } });
  await browser.post("/account/sign-up", { form: { email, password: PASSWORD } });
  const link = await findMailPath(app, email, "Confirm your address");
  await browser.get(link);
  await browser.post(link, { form: {} });
  await browser.post("/account/recovery-codes", { form: {} });
  await browser.post("/account/forgot", { form: { email } });
  const reset = await findMailPath(app, email, "Set a new password");
  await browser.get(reset);
  await browser.post(reset, { form: { password: "short" } });
  await browser.post(reset, { form: { password: "battery staple" } });
  await browser.post("/account/sign-in", { form: { email, password: "battery staple" } });
  await browser.post("/account/second-step", { form: { code: "000000" } });
  await browser.post("/account/second-step/passkey", { json: { response: {} } });
  await browser.post("/account/passkey", { json: { response: {} } });
}
