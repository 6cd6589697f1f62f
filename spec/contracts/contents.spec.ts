/** The contents of requests and responses that are not plain JSON, through an application and a real socket. */
import { expect } from "chai";
import { z } from "zod";
import {
  Application,
  content,
  type ContextOf,
  Controller,
  Get,
  Module,
  Post,
  provide,
  redirect,
  Reply,
  Route,
  Routes,
  routes,
} from "@stagecraft/framework";
import { MemoryStorage } from "@stagecraft/framework/storage";
import { testApp } from "@stagecraft/framework/testing";
import { Uploads } from "@stagecraft/framework/uploads";
import { PNG } from "../support/multipart.js";
import { startupErrorOf } from "../support/startup-error-of.js";

const Caption = z.object({ title: z.string(), year: z.int() });
const Change = z.object({ id: z.number() });

const things = routes("things", "/things", {
  photo: Post("/photo", {
    body: content.multipart(Caption, {
      photo: { types: ["image/*"], bytes: 1000 },
      more: { several: true, optional: true },
    }),
  }),
  several: Post("/several", {
    body: { "application/json": Caption, "application/x-www-form-urlencoded": content.form(Caption) },
  }),
  bytes: Post("/bytes", { body: content.bytes("image/png"), responses: { 201: content.bytes("image/png") } }),
  csv: Get("/csv", { responses: { 200: content.text("text/csv") } }),
  word: Get("/word", { responses: { 200: z.string() } }),
  nothing: Get("/nothing", { responses: { 200: Change.nullable() } }),
  file: Get("/file", { responses: { 200: content.file("text/plain") } }),
  events: Get("/events", { responses: { 200: content.events(Change) } }),
  replied: Get("/replied", { responses: { 200: content.events(Change) } }),
  leak: Get("/leak", { responses: { 200: content.events(Change) } }),
  lines: Get("/lines", { responses: { 200: content.jsonLines(z.string()) } }),
  away: Get("/away", { responses: { 302: content.redirect() } }),
  other: Get("/other", { responses: { 200: content.text() } }),
});

const storage = new MemoryStorage();

@Controller(things)
class ThingsController {
  @things.photo async photo({ input: { body } }: ContextOf<typeof things.photo>) {
    const { title, year, photo, more = [] } = body;
    return { title, year, type: photo.type, bytes: (await photo.bytes()).length, more: more.map(({ name }) => name) };
  }
  @things.several several({ input }: ContextOf<typeof things.several>) {
    return input.body;
  }
  @things.bytes bytes({ input }: ContextOf<typeof things.bytes>) {
    return input.body;
  }
  @things.csv csv() {
    return "a,b";
  }
  @things.word word() {
    return "word";
  }
  @things.nothing nothing() {
    return null;
  }
  @things.file file(ctx: ContextOf<typeof things.file>) {
    return storage.download("letter", { name: "letter.txt", request: ctx.incoming });
  }
  @things.events async *events() {
    yield await Promise.resolve({ id: "1", data: { id: 1 } });
  }
  @things.replied replied() {
    return Reply.events(async function* (lastEventId) {
      yield await Promise.resolve({ data: { id: Number(lastEventId) } });
    });
  }
  @things.leak async *leak() {
    const row = { id: 1, secret: "canary" };
    yield await Promise.resolve({ data: row });
  }
  @things.lines async *lines() {
    yield await Promise.resolve("one");
    yield "two";
  }
  @things.away away() {
    return redirect().to("/things/csv");
  }
  @things.other other(ctx: ContextOf<typeof things.other>): string {
    // A handler may lie to the compiler.
    return JSON.parse(ctx.get("x-value")) as string;
  }
}

@Module({ controllers: [ThingsController], providers: [provide(Uploads).useFactory(() => new Uploads())] })
class App {}

function createForm(fields: Readonly<Record<string, string | Blob>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

async function listFaults(response: Response): Promise<Readonly<Record<string, string>>> {
  const { errors } = (await response.json()) as { readonly errors: Readonly<Record<string, { code: string }[]>> };
  return Object.fromEntries(Object.entries(errors).map(([path, [first]]) => [path, first?.code ?? ""]));
}

describe("the contents of a request", () => {
  it("give the texts and files of a form by their rules", async () => {
    await using app = await testApp(Application.create(App));
    const form = createForm({ title: "Sea", year: "1999", photo: new Blob([PNG]), more: new Blob(["a"]) });
    const response = await fetch(`${app.url}/things/photo`, { method: "POST", body: form });
    expect(await response.json()).to.deep.equal({
      title: "Sea",
      year: 1999,
      type: "image/png",
      bytes: PNG.length,
      more: ["blob"],
    });
  });

  it("refuse files and texts of a form in one 422", async () => {
    await using app = await testApp(Application.create(App));
    const post = async (fields: Readonly<Record<string, string | Blob>>): Promise<Response> =>
      fetch(`${app.url}/things/photo`, { method: "POST", body: createForm(fields) });
    const wrong = await post({ title: "Sea", year: "x", photo: new Blob(["text"]), other: new Blob(["a"]) });
    expect([wrong.status, await listFaults(wrong)]).to.deep.equal([
      422,
      { "body.other": "unexpected_file", "body.photo": "file_type", "body.year": "invalid" },
    ]);
    const missing = await post({ title: "Sea", year: "1", photo: "no file" });
    expect(await listFaults(missing)).to.deep.equal({ "body.photo": "missing_file" });
    expect((await app.post("/things/photo", { json: { title: "Sea", year: 1 } })).status).to.equal(415);
  });

  it("are chosen by the media type, without case and parameters", async () => {
    await using app = await testApp(Application.create(App));
    const post = (type: string | undefined, body: string): Promise<Response> =>
      app.post("/things/several", { body, ...(type !== undefined && { headers: { "content-type": type } }) });
    const json = await post("Application/JSON; charset=utf-8", '{"title":"a","year":1}');
    const form = await post("APPLICATION/x-www-form-urlencoded", "title=a&year=1");
    expect([await json.json(), await form.json()]).to.deep.equal([
      { title: "a", year: 1 },
      { title: "a", year: 1 },
    ]);
    for (const type of ["text/plain", "application/jsonx", ";", "*/*", undefined])
      expect((await post(type, '{"title":"a","year":1}')).status, type).to.equal(415);
  });

  it("stop the start where their media type cannot have them", () => {
    const endpoint = Post("/", { body: { "text/plain": Caption } });
    class Wrong {
      @endpoint handle() {}
    }
    Controller("/wrong")(Wrong);
    @Module({ controllers: [Wrong] })
    class WrongModule {}
    expect(() => Application.create(WrongModule).build()).to.throw(/E_CONTRACT[^]*content/);
  });

  it("with files stop the start of an application without a reader of uploads", async () => {
    const body = content.multipart(Caption, { photo: {} });
    const several = { "multipart/form-data": body, "application/json": Caption };
    const uploading = new Routes([
      Route.of(Post("/one", { body }), () => ""),
      Route.of(Post("/several", { body: several }), () => ""),
    ]);

    const { diagnostics } = startupErrorOf(() => Application.create().routes(uploading).build());

    expect(diagnostics.map(({ code, where }) => `${code} ${where}`)).to.deep.equal([
      "E_UPLOADS_MISSING POST /one",
      "E_UPLOADS_MISSING POST /several",
    ]);
    expect(diagnostics[0]?.fix).to.include("provide(Uploads).useFactory(() => new Uploads())");
    const uploads = provide(Uploads).useFactory(() => new Uploads());
    await using app = await testApp(Application.create().provide(uploads).routes(uploading));
    expect((await app.post("/one", { json: {} })).status).to.equal(415);
  });
});

describe("the contents of a response", () => {
  it("have the declared status and media type for a plain value", async () => {
    await using app = await testApp(Application.create(App));
    const bytes = await app.post("/things/bytes", { body: PNG, headers: { "content-type": "image/png" } });
    expect([bytes.status, bytes.headers.get("content-type")]).to.deep.equal([201, "image/png"]);
    expect(Buffer.from(await bytes.arrayBuffer())).to.deep.equal(PNG);
    const rows = [];
    for (const path of ["csv", "word", "nothing", "lines"]) {
      const response = await app.get(`/things/${path}`);
      rows.push([response.status, response.headers.get("content-type"), await response.text()]);
    }
    expect(rows).to.deep.equal([
      [200, "text/csv; charset=utf-8", "a,b"],
      [200, "application/json", '"word"'],
      [200, "application/json", "null"],
      [200, "application/x-ndjson", '"one"\n"two"\n'],
    ]);
  });

  it("send a file whole, a range of it, and a redirect", async () => {
    await storage.put("letter", Buffer.from("dear"), { type: "text/plain" });
    await using app = await testApp(Application.create(App));
    const whole = await app.get("/things/file");
    expect([await whole.text(), whole.headers.get("content-disposition")]).to.deep.equal([
      "dear",
      'attachment; filename="letter.txt"',
    ]);
    const range = await app.get("/things/file", { headers: { range: "bytes=1-2" } });
    expect([range.status, await range.text()]).to.deep.equal([206, "ea"]);
    const away = await app.get("/things/away");
    expect([away.status, away.headers.get("location")]).to.deep.equal([302, "/things/csv"]);
  });

  it("send events of an iterable and of Reply.events, each checked by the schema of its data", async () => {
    await using app = await testApp(Application.create(App));
    const plain = await app.get("/things/events");
    expect([plain.headers.get("content-type"), await plain.text()]).to.deep.equal([
      "text/event-stream",
      'id: 1\ndata: {"id":1}\n\n',
    ]);
    const replied = await app.get("/things/replied", { headers: { "last-event-id": "7" } });
    expect(await replied.text()).to.equal('data: {"id":7}\n\n');
    const leak = await app
      .get("/things/leak")
      .then((response) => response.text())
      .catch(() => "");
    expect(leak).not.to.contain("canary");
  });

  it("are refused with 500 where a value is not of its content", async () => {
    await using app = await testApp(Application.create(App));
    for (const value of ["7", "[1]", '{"a":1}']) {
      const response = await app.get("/things/other", { headers: { "x-value": value } });
      expect(response.status, value).to.equal(500);
    }
    expect((await app.get("/things/other", { headers: { "x-value": '"text"' } })).status).to.equal(200);
  });
});
