/** The typed client over a real socket, against an application whose endpoints have contracts. */

import { expect } from "chai";
import { z } from "zod";
import {
  Application,
  content,
  type ContextOf,
  Controller,
  Delete,
  Get,
  Head,
  Module,
  NotFoundError,
  Post,
  provide,
  redirect,
  Reply,
  Route,
  Routes,
  routes,
  UnavailableError,
} from "@stagecraft/framework";
import { client, ClientProblem } from "@stagecraft/framework/routes";
import { testApp, type TestApp } from "@stagecraft/framework/testing";
import { UploadedFile, Uploads } from "@stagecraft/framework/uploads";
import { until } from "../support/until.js";

const Link = z.object({ id: z.int(), url: z.string(), at: z.date().optional() });
const Filter = z.object({
  page: z.int().optional(),
  open: z.boolean().optional(),
  tags: z.array(z.string()).optional(),
});
const Form = z.object({ name: z.string(), sizes: z.array(z.int()), owner: z.object({ id: z.int() }) });

const links = routes("links", "/teams/{team}/links", {
  index: Get("/", { query: Filter, headers: z.object({ "x-version": z.int().optional() }) }),
  store: Post("/", {
    body: z.object({ url: z.url() }),
    responses: { 201: Link, 409: z.object({ taken: z.string() }) },
  }),
  show: Get("/{id}", { params: { id: z.int() }, responses: { 200: Link } }),
  form: Post("/form", { body: content.form(Form), responses: { 200: Form } }),
  text: Post("/text", { body: content.text(), responses: { 200: content.text() } }),
  bytes: Post("/bytes", { body: content.bytes(), responses: { 200: content.bytes() } }),
  either: Post("/either", { body: { "application/json": Link, "text/plain": content.text() } }),
  gone: Delete("/{id}", { responses: { 204: content.none() } }),
  head: Head("/{id}/head", { responses: { 200: content.text() } }),
  move: Post("/move", { responses: { 303: content.redirect() } }),
  busy: Get("/busy/now", { responses: { 200: content.text() } }),
  busyPost: Post("/busy/now", { responses: { 200: content.text() } }),
  traced: Get("/traced/now"),
});

const live = routes("live", "/live", {
  photo: Post("/photo", {
    body: content.multipart(z.object({ title: z.string() }), { photo: {}, others: { several: true, optional: true } }),
    responses: { 200: z.object({ title: z.string(), names: z.array(z.string()) }) },
  }),
  events: Get("/events", { responses: { 200: content.events(z.object({ id: z.int(), at: z.date() })) } }),
  lines: Get("/lines", { responses: { 200: content.jsonLines(z.object({ id: z.int() })) } }),
  file: Get("/file", { responses: { 200: content.file("text/plain") } }),
});

/** The same paths without contracts. */
const LIVE = new Routes([
  Route.post("/live/photo", async (ctx) => {
    const form = await ctx.uploads();
    const files = [form["photo"], form["others"]].flat().filter((each) => each instanceof UploadedFile);
    return { title: form["title"], names: files.map(({ name }) => name) };
  }),
  Route.get("/live/events", () =>
    Reply.events(async function* () {
      yield await Promise.resolve({ event: "link", data: { id: 1, at: new Date(0) }, id: "7" });
      yield { data: { id: 2, at: new Date(0) } };
    }),
  ),
  Route.get("/live/lines", () => Reply.text('{"id":1}\r\n\n{"id":2}')),
  Route.get("/live/file", () => "text"),
]);

const busy = { left: 0, after: "0", requests: 0 };

function takeBusy(): string {
  busy.requests++;
  if (busy.left-- > 0) throw new UnavailableError("busy", { headers: { "Retry-After": busy.after } });
  return "done";
}

@Controller(links)
class LinksController {
  @links.index index({ input, params }: ContextOf<typeof links.index>) {
    return { ...input.query, version: input.headers["x-version"], team: params.team };
  }
  @links.store store({ input }: ContextOf<typeof links.store>) {
    const { url } = input.body;
    return url.endsWith("/taken") ? Reply.json({ taken: url }, 409) : { id: 1, url, at: new Date(0) };
  }
  @links.show show({ params }: ContextOf<typeof links.show>) {
    if (params.id === 404) throw new NotFoundError("no link 404");
    return { id: params.id, url: params.team };
  }
  @links.form form({ input }: ContextOf<typeof links.form>) {
    return input.body;
  }
  @links.text text({ input }: ContextOf<typeof links.text>) {
    return input.body.toUpperCase();
  }
  @links.bytes bytes({ input }: ContextOf<typeof links.bytes>) {
    return input.body;
  }
  @links.either either({ input }: ContextOf<typeof links.either>) {
    return typeof input.body === "string" ? "text" : "json";
  }
  @links.gone gone() {}
  @links.head head() {
    return "text";
  }
  @links.move move() {
    return redirect().to("/elsewhere");
  }
  @links.busy busy() {
    return takeBusy();
  }
  @links.busyPost busyPost() {
    return takeBusy();
  }
  @links.traced traced(ctx: ContextOf<typeof links.traced>) {
    return { traceparent: ctx.get("traceparent"), own: ctx.get("x-own") };
  }
}

@Module({
  controllers: [LinksController],
  providers: [provide(Uploads).useFactory(() => new Uploads())],
})
class App {}

const team = { team: "a b" };

async function problemOf(call: Promise<unknown>): Promise<ClientProblem> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).to.be.instanceOf(ClientProblem);
  return error as ClientProblem;
}

async function* listChunks() {
  yield await Promise.resolve(Uint8Array.of(1, 2));
  yield Uint8Array.of(3);
}

describe("the typed client", () => {
  let app: TestApp;

  before(async () => {
    app = await testApp(Application.create(App).routes(LIVE).errorMapping());
  });
  after(() => app.stop());

  const connect = () => client(links, { origin: app.url });
  const connectLive = () => client(live, { origin: app.url });

  it("sends captures, query and headers, and leaves out undefined values", async () => {
    const body = await connect().index({
      params: team,
      query: { page: 2, open: false, tags: ["a&b", "c"] },
      headers: { "x-version": 3 },
    });

    expect(body).to.deep.equal({ page: 2, open: false, tags: ["a&b", "c"], version: 3, team: "a b" });
    expect(await connect().index({ params: team, query: { page: undefined } })).to.deep.equal({ team: "a b" });
  });

  it("resolves with the body of success, as JSON leaves it", async () => {
    const link = await connect().store({ params: team, body: { url: "https://a.example/" } });
    const at: string | undefined = link.at;

    expect(link).to.deep.equal({ id: 1, url: "https://a.example/", at: "1970-01-01T00:00:00.000Z" });
    expect(at).to.equal("1970-01-01T00:00:00.000Z");
  });

  it("throws a problem with the members of the document", async () => {
    const missing = await problemOf(connect().show({ params: { ...team, id: 404 } }));
    const invalid = await problemOf(connect().store({ params: team, body: { url: "x" } }));

    expect([missing.status, missing.problem.detail]).to.deep.equal([404, "no link 404"]);
    expect(missing.message).to.equal("GET /teams/{team}/links/{id} responded 404 Resource not found");
    expect(Object.keys(invalid.problem.errors ?? {})).to.deep.equal(["body.url"]);
    expect(invalid.headers.get("content-type")).to.contain("problem+json");
  });

  it("throws a problem with the body of a declared status that is none of success", async () => {
    const taken = await problemOf(connect().store({ params: team, body: { url: "https://a.example/taken" } }));

    expect([taken.status, taken.body]).to.deep.equal([409, { taken: "https://a.example/taken" }]);
  });

  it("gives the response of each status to result", async () => {
    const api = connect();
    const stored = await api.store.result({ params: team, body: { url: "https://a.example/taken" } });
    const refused = await api.show.result({ params: { ...team, id: 404 } });

    if (stored.status !== 409) throw new Error(`status ${stored.status}`);
    expect(stored.body.taken).to.equal("https://a.example/taken");
    expect(stored.headers.get("content-type")).to.contain("json");
    if (refused.status !== 404) throw new Error(`status ${refused.status}`);
    expect(refused.body.title).to.equal("Resource not found");
  });

  it("gives a response that is not the declared content as unexpected, with its first 64 KiB", async () => {
    const page = Reply.html(`<p>${"x".repeat(100_000)}`);
    await using proxy = await testApp(
      Application.create().routes(new Routes([Route.get("/teams/{team}/links/{id}", () => page)])),
    );
    const api = client(links, { origin: proxy.url });
    const result = await api.show.result({ params: { ...team, id: 1 } });

    if (result.status !== "unexpected") throw new Error(`status ${result.status}`);
    expect(result.response.status).to.equal(200);
    expect(result.response.headers.get("content-type")).to.contain("text/html");
    expect(result.response.bytes).to.have.length(65_536);
    expect(await problemOf(api.show({ params: { ...team, id: 1 } }))).to.have.property("status", 200);
  });

  it("sends forms, with lists and objects in the names of their fields", async () => {
    const form = { name: "a=b", sizes: [1, 2], owner: { id: 7 } };

    expect(await connect().form({ params: team, body: form })).to.deep.equal(form);
  });

  it("sends and receives text and bytes, also bytes of an iterable", async () => {
    const api = connect();
    expect(await api.text({ params: team, body: "äh" })).to.equal("ÄH");
    expect(await api.bytes({ params: team, body: Uint8Array.of(0, 255) })).to.deep.equal(Uint8Array.of(0, 255));
    expect(await api.bytes({ params: team, body: listChunks() })).to.deep.equal(Uint8Array.of(1, 2, 3));
  });

  it("sends the first of several contents, or that of the Content-Type of the call", async () => {
    const api = connect();
    const headers = { "content-type": "text/plain" };

    expect(await api.either({ params: team, body: { id: 1, url: "" } })).to.equal("json");
    expect(await api.either({ params: team, body: "text", headers })).to.equal("text");
  });

  it("resolves with undefined where the response has no body", async () => {
    const api = connect();

    expect(await api.gone({ params: { ...team, id: 1 } })).to.equal(undefined);
    expect(await api.head({ params: { ...team, id: 1 } })).to.equal(undefined);
    expect(await api.move({ params: team })).to.equal(undefined);
  });

  it("does not follow a declared redirect", async () => {
    const result = await connect().move.result({ params: team });

    if (result.status !== 303) throw new Error(`status ${result.status}`);
    expect(result.headers.get("location")).to.equal("/elsewhere");
  });

  it("sends files of a multipart form", async () => {
    const names = ["a.txt", "b.txt", "c.txt"];
    const [photo = new File([], ""), ...others] = names.map((name) => new File(["x"], name, { type: "text/plain" }));

    const received = await connectLive().photo({ body: { title: "äh", photo, others } });

    expect(received).to.deep.equal({ title: "äh", names });
  });

  it("reads events as they arrive", async () => {
    const received: unknown[] = [];
    for await (const { event, data, id } of await connectLive().events()) {
      const at: string = data.at;
      received.push([event, data.id, at, id]);
    }

    const at = "1970-01-01T00:00:00.000Z";
    expect(received).to.deep.equal([
      ["link", 1, at, "7"],
      ["message", 2, at, "7"],
    ]);
  });

  it("reads JSON lines, and stops where its loop ends", async () => {
    const received: number[] = [];
    for await (const { id } of await connectLive().lines()) received.push(id);
    for await (const { id } of await connectLive().lines()) {
      received.push(id);
      break;
    }

    expect(received).to.deep.equal([1, 2, 1]);
  });

  it("receives a file as a blob", async () => {
    expect(await (await connectLive().file()).text()).to.equal("text");
  });

  it("adds the headers of its options to each call, which may replace them", async () => {
    let calls = 0;
    const api = client(links, { origin: app.url, headers: () => ({ traceparent: `00-${++calls}`, "X-Own": "a" }) });
    const headers = { "x-own": "b" };

    expect(await api.traced({ params: team })).to.deep.equal({ traceparent: "00-1", own: "a" });
    expect(await api.traced({ params: team, headers })).to.deep.equal({ traceparent: "00-2", own: "b" });
  });

  it("repeats a call that may be repeated, after Retry-After", async () => {
    Object.assign(busy, { left: 2, after: "0", requests: 0 });

    expect(await connect().busy({ params: team })).to.equal("done");
    expect(busy.requests).to.equal(3);
  });

  for (const [what, left, after, name, requests] of [
    ["a third time", 9, "0", "busy", 3],
    ["after a longer wait than 5 s", 1, "6", "busy", 1],
    ["where Retry-After is neither a number nor a date", 1, "soon", "busy", 1],
    ["with POST", 1, "0", "busyPost", 1],
  ] as const) {
    it(`does not repeat a call ${what}`, async () => {
      Object.assign(busy, { left, after, requests: 0 });

      const problem = await problemOf(connect()[name]({ params: team }));

      expect([problem.status, problem.headers.get("retry-after"), busy.requests]).to.deep.equal([503, after, requests]);
    });
  }

  it("ends with its signal, also while it waits for the next attempt", async () => {
    Object.assign(busy, { left: 9, after: "5", requests: 0 });
    const abort = new AbortController();
    const call = connect().busy({ params: team, signal: abort.signal });
    const outcome = call.catch((error: unknown) => error);
    await until(() => busy.requests > 0);
    abort.abort(new Error("enough"));

    expect(await outcome).to.have.property("message", "enough");
    expect(busy.requests).to.equal(1);
  });

  it("refuses a capture that no URL can have, before it sends", async () => {
    const call = connect().show({ params: { team: "", id: 1 } });

    expect(await call.catch((error: unknown) => error)).to.have.property("code", "E_ROUTE_PARAM");
  });
});
