/** Tags of a client that are no languages: in the query, in the session and in the header. None of them is a path, an error or a language. */
import fs, { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Application, type Context, ErrorMapping, provide, Route, Routes } from "@stagecraft/framework";
import { Languages } from "@stagecraft/framework/i18n";
import { Session, SessionConfig } from "@stagecraft/framework/session";
import { type TestApp, testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { z } from "zod";

const KEY = "0123456789abcdef".repeat(8);

/** Each would be a catalog, another file or a member of an object, if it were used as a name. */
const HOSTILE: readonly string[] = [
  "../secret",
  "..%2fsecret",
  "..\\secret",
  "../../../../../../etc/passwd",
  "/etc/passwd",
  "de/../../secret",
  "file:///etc/passwd",
  "de\0",
  "de\0.ftl",
  "\0",
  "de\r\nSet-Cookie: a=b",
  "x".repeat(10_000),
  "de-".repeat(3_400),
  `de${"-x".repeat(5_000)}`,
  "дe",
  "ｄｅ",
  "de\u202E",
  "d\u0131",
  "\uD800",
  "💥",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "x-secret",
  "x-",
  "-de",
  "secret",
  "i-klingon-toolong",
  "*",
  "",
  " ",
  "d e",
  "de_AT",
  "{ -secret }",
  "${secret}",
  "<script>",
];

/** Node refuses some of these bytes in a header, before the application. */
const canBeHeader = (text: string): boolean => /^[\t\x20-\x7E]*$/.test(text) && text.length < 8000;

describe("a hostile tag", () => {
  let folder: string;
  let languages: Languages;
  let app: TestApp;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "catalogs-"));
    for (const [name, text] of [
      ["locales/en", "hello = Hello"],
      ["locales/de", "hello = Hallo\nproblem-validation = Falsch"],
      ["secret", "hello = secret"],
    ] as const) {
      mkdirSync(join(folder, name), { recursive: true });
      writeFileSync(join(folder, name, "all.ftl"), `${text}\n`);
    }
    languages = new Languages({ folder: join(folder, "locales"), default: "en" });
    app = await testApp(
      Application.create()
        .provide(provide(Languages).useValue(languages))
        .routes(
          new Routes([
            Route.any("/hello", async (ctx: Context) => (await languages.of(ctx)).t("hello")),
            Route.post("/form", (ctx: Context) => ctx.json(z.object({ a: z.string() }))),
            Route.post("/store", async (ctx: Context) => {
              Session.of(ctx).put("language", (await ctx.json(z.object({ tag: z.string() }))).tag);
              return "stored";
            }),
          ]),
        )
        .errorMapping(new ErrorMapping())
        .session(SessionConfig.dev(KEY)),
    );
  });
  after(async () => {
    await app?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const tag of HOSTILE) {
    const title = JSON.stringify(tag.slice(0, 24)) + (tag.length > 24 ? ` of ${tag.length} characters` : "");

    it(`is no language as ?lang, in the session, or as a header: ${title}`, async () => {
      const query = `?${new URLSearchParams({ lang: tag.toWellFormed() })}`;
      const visitor = app.withCookies();

      const asked = await app.get(`/hello${query}`);
      const refused = await app.post(`/form${query}`, { json: {} });
      await visitor.post("/store", { json: { tag } });
      const stored = await visitor.get("/hello");
      const accepted = canBeHeader(tag) ? [await app.get("/hello", { headers: { "Accept-Language": tag } })] : [];

      for (const response of [asked, stored, ...accepted]) {
        expect([response.status, await response.text()]).to.deep.equal([200, "Hello"]);
        expect(response.headers.get("content-language")).to.equal("en");
        expect(response.headers.getSetCookie()).to.deep.equal([]);
      }
      expect(await refused.json()).to.include({ status: 422, title: "Validation failed" });
      expect(languages.in(tag).tag).to.equal("en");
    });
  }

  it("reads no file: the catalogs are read before the first request", async () => {
    const { readFileSync, statSync, readdirSync } = fs;
    const read: string[] = [];
    const listed = <F extends object>(work: F) =>
      new Proxy(work, {
        apply(target, self, given: readonly unknown[]): unknown {
          read.push(String(given[0]));
          // A proxy of a function has a function as target.
          return Reflect.apply(target as never, self, given);
        },
      });
    Object.assign(fs, {
      readFileSync: listed(readFileSync),
      statSync: listed(statSync),
      readdirSync: listed(readdirSync),
    });
    syncBuiltinESMExports();
    try {
      // The way in which the catalogs were read.
      new Languages({ folder: join(folder, "locales"), default: "en" }).start();
      expect(read.filter((path) => path.startsWith(folder))).to.have.length.above(2);
      read.length = 0;
      for (const tag of HOSTILE) await app.get(`/hello?${new URLSearchParams({ lang: tag.toWellFormed() })}`);
    } finally {
      Object.assign(fs, { readFileSync, statSync, readdirSync });
      syncBuiltinESMExports();
    }

    expect(read).to.deep.equal([]);
  });
});
