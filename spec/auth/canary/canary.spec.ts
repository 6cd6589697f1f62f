/**
 * Every flow of an identity with recognisable secrets, which then stand nowhere else: not in a log, a span, a metric, a row, a mail, an event,
 * an error, the printed form of a class or a session, the start-up report, or the head of a response. Each new flow runs here too.
 */
import { inspect } from "node:util";
import { type Context, event, Events, NotFoundError, Route, Routes } from "@stagecraft/framework";
import { PlainAuthMails } from "@stagecraft/framework/auth";
import { Mailer } from "@stagecraft/framework/mail";
import { Metrics } from "@stagecraft/framework/observe";
import { Session } from "@stagecraft/framework/session";
import { expectNoLeak } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { tracing } from "../../../lib/tracing/tracing.js";
import { account } from "../account-application.js";
import { CanaryApplication, CHANNELS, type Channel } from "./canary-application.js";
import { CanaryFlows, PASSWORDS } from "./canary-flows.js";
import { SecretSearch } from "./secret-search.js";

const PLANTED = "planted4711secret";
const told = event<{ readonly note: string }>("spec.told");
const log = tracing.target("spec");

describe("the flows of an identity", function () {
  this.timeout(120_000);

  it("show no secret in a log, span, metric, row, mail, event, error, printed class, report and response", async () => {
    await using canary = await CanaryApplication.start();
    const { app, db, search } = canary;

    await new CanaryFlows(canary).run();
    await expectNoLeak(app, PASSWORDS[0]);
    for (const row of await canary.readRows())
      for (const [hash] of row.matchAll(/\$scrypt\$[^ ]+/g))
        search.addSecret("the hash of a password", hash, { except: ["the rows"] });
    const before = await canary.find();
    await db.stop();
    const failed = await app.post(account.signIn.url(), {
      json: { email: "ada@shop.example", password: PASSWORDS[0] },
    });
    await canary.note(failed);

    expect(before).to.deep.equal([]);
    expect(failed.status).to.equal(503);
    expect(await canary.find({ withRows: false })).to.deep.equal([]);
    expect(new Set(search.names())).to.have.property("size").above(24);
    expect(canary.printed).to.have.lengthOf.above(35);
    for (const channel of CHANNELS) expect(search.sizes().get(channel), channel).to.be.above(300);
  });
});

/** Each puts the secret into one channel. */
const PLANTS: Readonly<Record<Channel, (canary: CanaryApplication) => unknown>> = {
  "the log": ({ app }) => app.captured.run(() => log.trace("told", { note: PLANTED })),
  "the spans": ({ app }) => app.captured.run(() => log.span("told", { note: PLANTED }).run(() => 1)),
  "the metrics": ({ app }) => app.resolve(Metrics).increment("told_total", { note: PLANTED }),
  "the rows": ({ db }) => db.run(`insert into framework_totp_secrets values ('${PLANTED}', 'x', 1, 1)`),
  "the mails": ({ app }) =>
    app.resolve(Mailer).send(new PlainAuthMails().signIn({ to: "a@b.example", url: PLANTED, expiresAt: new Date(0) })),
  "the events": ({ app }) => app.resolve(Events).emit(told, { note: PLANTED }),
  "the errors": (canary) => visit(canary, "cause"),
  "the printed classes": ({ printed }) => printed.push(["Told", { note: PLANTED }]),
  "the printed sessions": (canary) => visit(canary, "session"),
  "the start-up report": () => undefined,
  "the heads of responses": (canary) => visit(canary, "head"),
  "the bodies of refusals": (canary) => visit(canary, "body"),
};

async function visit(canary: CanaryApplication, what: string): Promise<void> {
  await canary.note(await canary.app.get(`/told/${what}`));
}

/** What a careless handler does. */
function tell(ctx: Context<"what">): string {
  const { what } = ctx.params;
  if (what === "cause") throw new Error("told", { cause: new Error(PLANTED) });
  if (what === "body") throw new NotFoundError(PLANTED);
  if (what === "session") Session.of(ctx).put("told", PLANTED);
  if (what === "head") ctx.set("X-Told", PLANTED);
  return "told";
}

describe("the search for secrets", function () {
  this.timeout(60_000);

  for (const channel of CHANNELS)
    it(`finds one that is planted in ${channel}`, async () => {
      const handlers = [Route.get("/told/{what}", tell)];
      if (channel === "the start-up report") handlers.push(Route.get(`/${PLANTED}`, () => "told"));
      await using canary = await CanaryApplication.start((builder) => builder.routes(new Routes(handlers)));
      canary.search.addSecret("a planted secret", PLANTED);

      await PLANTS[channel](canary);

      expect((await canary.find()).join()).to.include(`a planted secret in ${channel}: `);
    });

  const bytes = Buffer.from("key4711+/ü?secret");
  const forms: Readonly<Record<string, string>> = {
    plain: "key4711+/ü?secret",
    "in upper case": "KEY4711+/Ü?SECRET",
    "in JSON": JSON.stringify({ key: "key4711+/ü?secret" }),
    "percent-encoded": encodeURIComponent("key4711+/ü?secret"),
    "with each byte percent-encoded": bytes.toString("hex").replaceAll(/../g, "%$&"),
    "in hexadecimal digits": bytes.toString("hex"),
    "in base64": bytes.toString("base64"),
    "in base64url": bytes.toString("base64url"),
    "in base64, behind one other byte": Buffer.concat([Buffer.from(":"), bytes]).toString("base64"),
    "in base64, between others": Buffer.concat([Buffer.from("ada:"), bytes, Buffer.from("x")]).toString("base64"),
    "as a printed buffer": inspect(bytes),
    "as a list of bytes": JSON.stringify([...bytes]),
  };
  for (const [form, text] of Object.entries(forms))
    it(`finds one ${form}`, () => {
      const search = new SecretSearch();
      search.addSecret("a key", "key4711+/ü?secret");
      search.addText("the log", `before ${text} after`);

      expect(search.find()).to.have.lengthOf(1);
    });

  it("finds a code of six digits where it stands alone, and not in other numbers", () => {
    const search = new SecretSearch();
    search.addSecret("a code", "482915");
    search.addText("the rows", '{"duration":482915,"time":"10:482915","id":"a482915"} 1482915');
    expect(search.find()).to.deep.equal([]);
    search.addText("the log", '{"code":"482915"}');

    expect(search.find()).to.have.lengthOf(1);
  });

  it("leaves a secret where it may stand", () => {
    const search = new SecretSearch();
    search.addSecret("a link", "https://shop.example/reset/1", { except: ["the mails"] });
    search.addText("the mails", "Here: https://shop.example/reset/1");
    search.addText("the log", "https://shop.example/reset/1");

    expect(search.find()).to.have.lengthOf(1);
  });
});
