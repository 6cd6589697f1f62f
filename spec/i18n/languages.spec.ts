/** The language of a request over a real socket: query, session, header and default; the headers of responses; pages, problems and mails. */
import {
  Application,
  type Context,
  ErrorMapping,
  type Next,
  NotFoundError,
  provide,
  Route,
  Routes,
} from "@stagecraft/framework";
import { Languages } from "@stagecraft/framework/i18n";
import { html, Mail, Mailer, MemoryMailer } from "@stagecraft/framework/mail";
import { page, Pages } from "@stagecraft/framework/pages";
import { Session, SessionConfig } from "@stagecraft/framework/session";
import { type TestApp, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { z } from "zod";
import { inertia, pageIn } from "../support/page-visit.js";

const KEY = "0123456789abcdef".repeat(8);

const languages = new Languages({
  default: "en",
  catalogs: {
    en: "hello = Hello { $name }\npage-title = Links\npage-count = { $n ->\n    [one] one link\n   *[other] { $n } { -things }\n }\n-things = links",
    de: [
      "hello = Hallo { $name }",
      "page-title = Verweise",
      "page-count = { $n } { -things }",
      "-things = Verweise",
      "problem-not-found = Nicht gefunden",
      "problem-payload-too-large = Zu groß",
      "    .detail = Das ist zu viel.",
      "problem-validation = Die Eingabe ist nicht gültig",
      "validation-too_small = Das ist zu wenig.",
    ].join("\n"),
    "pt-BR": "hello = Olá { $name }",
    ar: "hello = مرحبا { $name }",
  },
});

async function greet(ctx: Context<string>): Promise<string> {
  const { t } = await languages.of(ctx);
  return t("hello", { name: "Ada" });
}

/** For an application whose refusals have texts: the session is asked before the handler. */
async function negotiate(ctx: Context, next: Next): Promise<void> {
  await languages.of(ctx);
  await next();
}

function readProps(json: string): object {
  return (JSON.parse(json) as { readonly props: object }).props;
}

const handlers = {
  "/hello": greet,
  "/plain": () => "plain",
  "/missing": () => {
    throw new NotFoundError("no link 7");
  },
  "/translated-then-missing": async (ctx: Context) => {
    await greet(ctx);
    throw new NotFoundError("no link 7");
  },
  "/gone": async (ctx: Context) => {
    await greet(ctx);
    ctx.throw(410, "gone");
  },
  "/form": (ctx: Context) => ctx.json(z.object({ title: z.string().min(3) })),
  "/page": () => page("links/index", {}),
  "/stored": (ctx: Context) => Session.of(ctx).get("language"),
  "/unknown": async (ctx: Context) => (await languages.of(ctx)).t("no-such-message"),
};

function createBuilder() {
  return Application.create()
    .provide(provide(Languages).useValue(languages))
    .routes(new Routes(Object.entries(handlers).map(([path, handler]) => Route.any(path, handler as typeof greet))));
}

let app: TestApp;

beforeEach(async () => {
  app = await testApp(
    createBuilder()
      .errorMapping(new ErrorMapping())
      .bodyLimit(1000)
      .pages(new Pages({ share: languages.pageProps("page-") })),
  );
});

afterEach(() => app[Symbol.asyncDispose]());

async function languageOf(path: string, accept?: string): Promise<string | null> {
  const response = await app.get(path, accept === undefined ? {} : { headers: { "Accept-Language": accept } });
  expect(response.status).to.equal(200);
  expect(response.headers.get("vary") ?? "").to.match(/(^|, )Accept-Language/);
  return response.headers.get("content-language");
}

describe("the language of a request", () => {
  const rows: readonly (readonly [title: string, header: string | undefined, tag: string])[] = [
    ["without a header is the default", undefined, "en"],
    ["is the one that the header names", "de", "de"],
    ["is that of a longer tag", "de-AT, en;q=0.5", "de"],
    ["is not one of a longer tag than the header has", "pt", "en"],
    ["has the spelling of its catalog", "PT-br", "pt-BR"],
    ["is the one with the highest weight", "en;q=0.3, ar;q=0.7, de;q=0.5", "ar"],
    ["is none with the weight 0", "de;q=0, fr", "en"],
    ["is not a shorter tag that is refused", "de-AT, de;q=0, ar;q=0.1", "ar"],
    ["ignores a weight above 1", "de;q=2, ar;q=0.5", "ar"],
    ["is the default for a star", "*", "en"],
    ["is the default for a path", "../../etc/passwd", "en"],
    [
      "is the default for names of members of objects",
      "constructor, prototype, __proto__, toString, hasOwnProperty",
      "en",
    ],
    ["is that of the first 16 members", `${"fr,".repeat(16)}de`, "en"],
    ["is that of 1000 members", `ar,${"fr,".repeat(1000)}de`, "ar"],
    ["is that of the first 512 characters", `fr${" ".repeat(520)},de`, "en"],
  ];
  for (const [title, header, tag] of rows) {
    it(title, async () => {
      expect(await languageOf("/hello", header)).to.equal(tag);
    });
  }

  it("is refused by Node in a header of 100 kB, and the next request is served", async () => {
    const response = await app.raw(
      `GET /hello HTTP/1.1\r\nHost: x\r\nAccept-Language: ${"de,".repeat(33_000)}\r\nConnection: close\r\n\r\n`,
    );

    expect(String(response)).to.include("431");
    expect(await languageOf("/hello", "de")).to.equal("de");
  });

  const queries: readonly (readonly [query: string, tag: string])[] = [
    ["?lang=de", "de"],
    ["?lang=de-AT", "de"],
    ["?lang=DE", "de"],
    ["?lang=pt-BR&lang=de", "pt-BR"],
    ["?lang[]=de", "ar"],
    ["?lang[a]=de", "ar"],
    ["?lang=", "ar"],
    ["?lang=xx", "ar"],
    ["?lang=%00", "ar"],
    ["?lang=%ff", "ar"],
    ["?lang=../../../etc/passwd", "ar"],
    ["?lang=__proto__", "ar"],
    ["?lang=constructor", "ar"],
    [`?lang=${"de-".repeat(3000)}`, "ar"],
    ["?slang=de", "ar"],
  ];
  for (const [query, tag] of queries) {
    it(`of ${query.slice(0, 40)} is ${tag} in spite of the header`, async () => {
      expect(await languageOf(`/hello${query}`, "ar")).to.equal(tag);
    });
  }

  it("is asked by nothing where no text is translated: the response has no header of it", async () => {
    const response = await app.get("/plain?lang=de", { headers: { "Accept-Language": "de" } });

    expect(response.headers.get("content-language")).to.equal(null);
    expect(response.headers.get("vary") ?? "").not.to.include("Accept-Language");
  });

  it("never mixes with that of another request at the same time", async () => {
    const tags = Array.from({ length: 60 }, (_each, at) => ["en", "de", "pt-BR"][at % 3] ?? "");

    const texts = await Promise.all(
      tags.map(async (tag) => (await app.get("/hello", { headers: { "Accept-Language": tag } })).text()),
    );

    const expected: Readonly<Record<string, string>> = { en: "Hello Ada", de: "Hallo Ada", "pt-BR": "Olá Ada" };
    expect(texts).to.deep.equal(tags.map((tag) => expected[tag]));
  });
});

describe("the language in a session", () => {
  it("is that of the parameter until another is chosen, and takes precedence over the header", async () => {
    await using server = await testApp(createBuilder().session(new SessionConfig(KEY)));
    const visited = server.withCookies();
    const other = { headers: { "Accept-Language": "ar" } };

    await visited.get("/hello?lang=de", other);
    const later = await visited.get("/hello", other);
    await visited.get("/hello?lang=pt-BR", other);
    const last = await visited.get("/hello", other);

    expect(later.headers.get("content-language")).to.equal("de");
    expect(last.headers.get("content-language")).to.equal("pt-BR");
  });

  it("is not stored for a header, nor for an unknown parameter, so that no session begins", async () => {
    await using visited = await testApp(createBuilder().session(new SessionConfig(KEY)));

    const first = await visited.get("/hello?lang=xx", { headers: { "Accept-Language": "de" } });

    expect(first.headers.getSetCookie()).to.deep.equal([]);
  });

  it("is the stored tag alone: a value of another kind counts as none", async () => {
    await using visited = await testApp(
      createBuilder()
        .session(new SessionConfig(KEY))
        .routes(new Routes([Route.any("/spoil", (ctx) => Session.of(ctx).put("language", { tag: "de" }))])),
    );
    const client = visited.withCookies();
    await client.get("/spoil");

    expect((await client.get("/hello")).headers.get("content-language")).to.equal("en");
  });
});

describe("a problem", () => {
  it("has the title of the catalog in the language of the request", async () => {
    const response = await app.get("/missing", { headers: { "Accept-Language": "de" } });

    expect(response.headers.get("content-language")).to.equal("de");
    expect(response.headers.get("vary")).to.include("Accept-Language");
    expect(await response.json()).to.deep.equal({
      type: "urn:framework:problem:not-found",
      title: "Nicht gefunden",
      status: 404,
      detail: "no link 7",
    });
  });

  it("of a stage or the router has it too", async () => {
    const large = await app.post("/form", { json: { title: "x".repeat(2000) }, headers: { "Accept-Language": "de" } });
    const unrouted = await app.get("/nowhere", { headers: { "Accept-Language": "de" } });

    expect(await large.json()).to.include({ title: "Zu groß", detail: "Das ist zu viel." });
    expect(await unrouted.json()).to.include({ title: "Nicht gefunden" });
  });

  it("stays as it is, without the headers, where the catalogs have no text of it", async () => {
    const response = await app.get("/missing", { headers: { "Accept-Language": "en" } });

    expect(response.headers.get("content-language")).to.equal(null);
    expect(await response.json()).to.include({ title: "Resource not found" });
  });

  it("that takes the place of a translated response does not have its language", async () => {
    const gone = await app.get("/gone", { headers: { "Accept-Language": "de" } });
    const translated = await app.get("/translated-then-missing?lang=de");

    expect(gone.status).to.equal(410);
    expect(gone.headers.get("content-language")).to.equal(null);
    expect(translated.headers.get("content-language")).to.equal("de");
  });

  it("of a validation has the messages of the fields", async () => {
    const response = await app.post("/form", { json: { title: "x" }, headers: { "Accept-Language": "de" } });

    expect(await response.json()).to.deep.include({
      title: "Die Eingabe ist nicht gültig",
      errors: { title: [{ code: "too_small", message: "Das ist zu wenig." }] },
    });
  });

  it("of a validation reaches the form of a page in the language of the session", async () => {
    await using visited = await testApp(
      createBuilder()
        .layer(negotiate)
        .session(new SessionConfig(KEY))
        .pages(new Pages({ share: languages.pageProps("page-") })),
    );
    const visitor = visited.withCookies();
    await visitor.get("/hello?lang=de");
    const referer = { Referer: `${visited.url}/page`, "Accept-Language": "ar" };

    await visitor.post("/form", { json: { title: "x" }, headers: inertia(referer) });
    const shown = await visitor.get("/page", { headers: { Accept: "text/html" } });

    expect(pageIn(await shown.text()).props["errors"]).to.deep.equal({ title: "Das ist zu wenig." });
  });
});

describe("a page", () => {
  it("has the language in its document, its props and its headers", async () => {
    const response = await app.get("/page", { headers: { "Accept-Language": "de", Accept: "text/html" } });
    const text = await response.text();

    expect(text).to.match(/^<!DOCTYPE html><html lang="de" dir="ltr">/);
    expect(response.headers.get("content-language")).to.equal("de");
    expect(pageIn(text).props).to.deep.include({ locale: { tag: "de", dir: "ltr" } });
  });

  it("has the messages of its prefix as a catalog, with what they refer to", async () => {
    const response = await app.get("/page?lang=de", { headers: { Accept: "text/html" } });

    expect(pageIn(await response.text()).props["messages"]).to.equal(
      "page-title = Verweise\npage-count = { $n } { -things }\n-things = Verweise",
    );
  });

  it("is written from right to left where its language is", async () => {
    const response = await app.get("/page?lang=ar", { headers: { Accept: "text/html" } });

    expect(await response.text()).to.include('<html lang="ar" dir="rtl">');
  });

  it("does not send the messages again that the browser has, and sends those of another language", async () => {
    const first = await app.get("/page?lang=de", { headers: inertia() });
    const { onceProps } = (await first.json()) as { readonly onceProps: Readonly<Record<string, object>> };
    const known = { "X-Inertia-Except-Once-Props": Object.keys(onceProps).join() };

    const second = await app.get("/page?lang=de", { headers: inertia(known) });
    const other = await app.get("/page?lang=en", { headers: inertia(known) });

    expect(readProps(await second.text())).not.to.have.property("messages");
    expect(readProps(await other.text())).to.have.property("messages");
  });
});

describe("a mail", () => {
  class Welcome extends Mail<{ readonly name: string; readonly language: string }> {
    private readonly texts = languages.in(this.data.language);

    subject(): string {
      return this.texts.t("hello", { name: this.data.name });
    }

    text(): string {
      return this.subject();
    }

    override html() {
      return html`<p lang="${this.texts.tag}">${this.subject()}</p>`;
    }
  }

  it("has the language of its data, also where that language is gone", async () => {
    const mailer = new MemoryMailer({ from: "shop@example.org" });
    await using _sending = await testApp(createBuilder().provide(provide(Mailer).useValue(mailer)));

    for (const language of ["de", "xx"])
      await mailer.send(new Welcome({ name: "<Ada>", language }).to("a@example.org"));

    expect(mailer.sent.map(({ subject }) => subject)).to.deep.equal(["Hallo <Ada>", "Hello <Ada>"]);
    expect(mailer.sent[0]?.html).to.equal('<p lang="de">Hallo &lt;Ada&gt;</p>');
  });
});

describe("an unknown message", () => {
  it("is its name in the response, and one warning in the log", async () => {
    const first = await app.get("/unknown");
    await app.get("/unknown");

    const warnings = app.logs.lines().filter((line) => line.includes("message not translated"));
    expect(await first.text()).to.equal("no-such-message");
    expect(warnings).to.have.length(1);
    expect(JSON.parse(warnings[0] ?? "")).to.deep.include({
      level: "WARN",
      fields: { language: "en", id: "no-such-message", reason: "no language has the message" },
    });
  });
});
