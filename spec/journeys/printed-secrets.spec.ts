/**
 * Secrets in print: every public class that is given a secret, printed in every way that a log, a debugger or a failing test prints it. None
 * of them may show the secret.
 */
import { format, inspect } from "node:util";
import { Application, type Context, environment, Route, Routes, variable } from "@stagecraft/framework";
import { RedisCache } from "@stagecraft/framework/cache/redis";
import { Encrypter, UrlSigner } from "@stagecraft/framework/crypto";
import { Database, sql } from "@stagecraft/framework/db";
import { mysql } from "@stagecraft/framework/db/mysql";
import { postgres } from "@stagecraft/framework/db/postgres";
import { BullJobs } from "@stagecraft/framework/jobs/bullmq";
import { SmtpMailer } from "@stagecraft/framework/mail/smtp";
import { CaptureSink, JsonLog } from "@stagecraft/framework/observe";
import { CsrfConfig, CsrfToken, Flash, Session, SessionConfig } from "@stagecraft/framework/session";
import { RedisSessionStore } from "@stagecraft/framework/session/redis";
import { FsStorage } from "@stagecraft/framework/storage/fs";
import { MemoryStorage, StorageUrls } from "@stagecraft/framework/storage";
import { S3Storage } from "@stagecraft/framework/storage/s3";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { tracing } from "../../lib/tracing/tracing.js";
import { errorOf } from "../support/error-of.js";
import { needs } from "../support/machine.js";
import { MARIADB_PASSWORD, MariadbServer } from "../support/mariadb-server.js";
import { POSTGRES_PASSWORD, PostgresServer } from "../support/postgres-server.js";

/** 64 letters, so that it may be a key too. */
const CANARY = "canary4711secret".repeat(4);
const KEY = Buffer.from(CANARY);

const redis = (): RedisCache => new RedisCache({ url: `redis://user:${CANARY}@127.0.0.1:1` });
const urls = (): StorageUrls => new StorageUrls({ base: "http://localhost/files", key: KEY });
const s3 = (): S3Storage =>
  new S3Storage({
    bucket: "files",
    region: "eu",
    endpoint: "http://127.0.0.1:1",
    credentials: { accessKeyId: "id", secretAccessKey: CANARY, sessionToken: CANARY },
  });

const HOLDERS: Readonly<Record<string, () => unknown>> = {
  "RedisCache of a URL": redis,
  "RedisCache of options": () => new RedisCache({ client: { host: "127.0.0.1", port: 1, password: CANARY } }),
  RedisSessionStore: () => new RedisSessionStore(redis()),
  "BullJobs of a URL": () => new BullJobs({ url: `redis://user:${CANARY}@127.0.0.1:1` }),
  "BullJobs of options": () => new BullJobs({ url: "redis://127.0.0.1:1", client: { password: CANARY } }),
  SmtpMailer: () => new SmtpMailer({ from: "a@b.example", host: "127.0.0.1", port: 1, user: "u", password: CANARY }),
  S3Storage: s3,
  StorageUrls: urls,
  UrlSigner: () => new UrlSigner(KEY, "http://localhost"),
  Encrypter: () => new Encrypter([KEY, KEY]),
  "keys of the environment": () => environment({ APP_KEY: variable.keys() }, { APP_KEY: KEY.toString("hex") }),
  FsStorage: () => new FsStorage({ root: "/nowhere", urls: { base: "http://localhost/files", key: KEY } }),
  MemoryStorage: () => new MemoryStorage({ urls: { base: "http://localhost/files", key: KEY } }),
  "postgres of a URL": () => postgres(`postgres://user:${CANARY}@127.0.0.1:1/db`),
  "postgres of options": () => postgres({ url: "postgres://user@127.0.0.1:1/db", password: () => CANARY }),
  mysql: () => mysql(`mysql://user:${CANARY}@127.0.0.1:1/db`),
  SessionConfig: () => SessionConfig.pages(KEY),
  "ApplicationBuilder with sessions": () =>
    Application.create().session(new SessionConfig(KEY)).csrf(CsrfConfig.pages()),
};

/** How a value gets to a reader. */
const WAYS: Readonly<Record<string, (value: unknown) => string>> = {
  inspect: (value) => inspect(value),
  "inspect with all": (value) => inspect(value, { showHidden: true, depth: Infinity, maxStringLength: null }),
  "inspect without custom methods": (value) =>
    inspect(value, { customInspect: false, showHidden: true, depth: Infinity }),
  "inspect inside an object": (value) => inspect({ held: [value] }, { depth: Infinity }),
  JSON: (value) => jsonOf(value),
  String: (value) => String(value),
  "%o": (value) => format("%o %O %s %j", value, value, value, { held: jsonOf(value) }),
  "an error": (value) => inspect(new Error("failed", { cause: value }), { depth: Infinity }),
  "a field of the log": (value) => logged(value),
};

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch (error) {
    return String(error);
  }
}

function logged(value: unknown): string {
  const sink = new CaptureSink();
  tracing.withSubscriber(tracing.registry().with(new JsonLog(sink)), () =>
    tracing.target("spec").info("made", { made: value, held: { made: [value] } }),
  );
  return sink.lines().join("\n");
}

/** The secret as text, as bytes and in base64. */
const SHAPES = [
  CANARY.slice(0, 16),
  KEY.subarray(0, 8).toString("hex"),
  KEY.subarray(0, 12).toString("base64"),
  "63 61 6e 61",
  "99, 97, 110",
  "99,\n",
];

function expectHidden(what: string, value: unknown): void {
  for (const [way, print] of Object.entries(WAYS)) {
    const text = print(value);
    const shown = SHAPES.filter((shape) => text.includes(shape));
    expect(shown, `${what}, by ${way}`).to.deep.equal([]);
  }
}

describe("a printed value that was given a secret", () => {
  for (const [what, make] of Object.entries(HOLDERS)) {
    it(`does not show it: ${what}`, () => expectHidden(what, make()));
  }
});

const TERMS = { expiresAt: new Date(0) };

/** Secrets in options that cannot work. */
const REFUSED: Readonly<Record<string, () => unknown>> = {
  RedisCache: () => new RedisCache({ url: `http://user:${CANARY}@127.0.0.1:1` }),
  "RedisCache of no URL": () => new RedisCache({ url: CANARY }),
  BullJobs: () => new BullJobs({ url: `http://user:${CANARY}@127.0.0.1:1` }),
  SmtpMailer: () => new SmtpMailer({ from: "a@b.example", host: "", user: "u", password: CANARY }),
  "SmtpMailer without TLS": () =>
    new SmtpMailer({ from: "a@b.example", host: "h", security: "plain", user: "u", password: CANARY }),
  S3Storage: () =>
    new S3Storage({ bucket: "", region: "eu", credentials: { accessKeyId: "id", secretAccessKey: CANARY } }),
  StorageUrls: () => new StorageUrls({ base: "http://localhost/files", key: CANARY.slice(0, 16) }),
  postgres: () => postgres(`http://user:${CANARY}@127.0.0.1:1/db`),
  "postgres of no URL": () => postgres(CANARY),
  mysql: () => mysql(`http://user:${CANARY}@127.0.0.1:1/db`),
  SessionConfig: () => SessionConfig.pages(CANARY.slice(0, 16)),
  UrlSigner: () => new UrlSigner(CANARY.slice(0, 16), "http://localhost"),
  "UrlSigner of a path": () => new UrlSigner(KEY, "http://localhost").sign("GET", `/ä?token=${CANARY}`, TERMS),
  Encrypter: () => new Encrypter(CANARY.slice(0, 16)),
  "Encrypter of a text": () => new Encrypter(KEY).encrypt(`${CANARY}\uD800`),
  "keys of the environment": () => environment({ APP_KEY: variable.keys() }, { APP_KEY: CANARY }),
};

describe("the error about options with a secret", () => {
  for (const [what, make] of Object.entries(REFUSED)) {
    it(`does not show it: ${what}`, () => expectHidden(what, errorOf(make)));
  }
});

class ShopDatabase extends Database<object> {}

const SERVERS = [
  ["PostgreSQL", "postgres", () => PostgresServer.borrow(), postgres, POSTGRES_PASSWORD],
  ["MariaDB", "mariadbd", () => MariadbServer.borrow(), mysql, MARIADB_PASSWORD],
] as const;

for (const [name, program, borrow, driver, password] of SERVERS)
  it(`a database with connections does not show its password: ${name}`, async function () {
    needs(program).call(this);
    this.timeout(60_000);
    await using server = await borrow();
    const db = new ShopDatabase(driver(server.url));
    await db.start();
    await sql`select 1`.execute(db.query);
    const printed = Object.entries(WAYS).map(([way, print]) => [way, print(db)] as const);
    await db.stop();

    expect(server.url).to.include(password);
    for (const [way, text] of printed) expect(text.includes(password), way).to.equal(false);
  });

it("does not show the token of a form, nor the id of a session", async () => {
  const printed: Record<string, string> = {};
  const handler = (ctx: Context): string => {
    Session.of(ctx).put("user", 1);
    const token = CsrfToken.of(ctx);
    token.masked();
    for (const [what, value] of Object.entries({ CsrfToken: token, Session: Session.of(ctx), Flash: Flash.of(ctx) }))
      for (const [way, print] of Object.entries(WAYS)) printed[`${what}, by ${way}`] = print(value);
    return "";
  };
  const builder = Application.create()
    .routes(new Routes([Route.get("/", handler)]))
    .session(SessionConfig.dev(KEY))
    .csrf(CsrfConfig.pages().dev());
  await using app = await testApp(builder);

  const cookies = (await app.get("/")).headers.getSetCookie();
  await app.get("/", { headers: { Cookie: cookies.map((cookie) => cookie.split(";", 1)[0]).join("; ") } });

  const secrets = cookies.map((cookie) => (/=([^;]{16})/.exec(cookie) ?? [])[1] ?? "");
  expect(secrets).to.have.length.at.least(2);
  expect(Object.keys(printed)).to.have.length(3 * Object.keys(WAYS).length);
  for (const [what, text] of Object.entries(printed))
    expect(
      secrets.filter((secret) => text.includes(secret)),
      what,
    ).to.deep.equal([]);
});
