import {
  Application,
  Clock,
  NotFoundError,
  provide,
  redirect,
  Reply,
  Route,
  Routes,
  ValidationError,
  type Context,
} from "@stagecraft/framework";
import { Flash, Session, SessionConfig } from "@stagecraft/framework/session";
import { context, FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { FlashPort, NO_FLASH } from "../../../lib/stages/session/flash-port.js";

const KEY = "5a".repeat(64);

const taken = async (ctx: Context) => Flash.of(ctx).take();

const routes = () =>
  new Routes([
    Route.get("/", taken),
    Route.head("/", taken),
    Route.get("/peek", async (ctx: Context) => Flash.of(ctx).peek()),
    Route.get("/twice", async (ctx: Context) => [await taken(ctx), await taken(ctx)]),
    Route.get("/values", async (ctx: Context) => [
      await Session.of(ctx).get("_flash"),
      await Session.of(ctx).get("_flash_data"),
    ]),
    Route.get("/unchanged", async (ctx: Context) => (await taken(ctx), Reply.empty(304))),
    Route.get("/moved", async (ctx: Context) => (await taken(ctx), redirect().to("/"))),
    Route.get("/conflict", async (ctx: Context) => (await taken(ctx), Reply.empty(409))),
    Route.get("/nothing", async (ctx: Context) => (await taken(ctx), Reply.noContent())),
    Route.get("/missing", async (ctx: Context) => {
      await taken(ctx);
      throw new NotFoundError();
    }),
    Route.get("/panic", async (ctx: Context) => {
      await taken(ctx);
      throw new TypeError("of the handler");
    }),
    Route.get("/put-back", async (ctx: Context) => {
      await taken(ctx);
      FlashPort.find(ctx)?.putBack();
      return "no page";
    }),
    Route.get("/not-found-page", async (ctx: Context) => Reply.json(await taken(ctx), 404)),
    Route.get("/fresh", async (ctx: Context) => {
      const before = await taken(ctx);
      Flash.of(ctx).info("after");
      return before;
    }),
    Route.post("/add/{text}", (ctx: Context<"text">) => {
      const flash = Flash.of(ctx);
      flash.success(ctx.params.text);
      flash.error("e");
      flash.warning("w");
      flash.info("i");
    }),
    Route.post("/one", (ctx: Context) => Flash.of(ctx).success("one")),
    Route.post("/with", () =>
      redirect().to("/").with("notice", "Saved.").with("notice", "Saved again.").with("id", "7"),
    ),
    Route.post("/form", async (ctx: Context) => {
      await ctx.form();
      const error = new ValidationError({
        name: [
          { code: "too_small", message: "Too short" },
          { code: "x", message: "second" },
        ],
        "address.city": [{ code: "invalid" }],
      });
      return redirect().back("/").withErrors(error);
    }),
    Route.post("/names", async (ctx: Context) => {
      const names = Object.keys(await ctx.form());
      return redirect().withErrors(Object.fromEntries(names.map((name) => [name, "unknown"])));
    }),
    Route.post("/bag", () =>
      redirect()
        .to("/")
        .withErrors({ email: ["one", "two"] }, "invite")
        .withInput({ email: "a@" }),
    ),
    Route.post("/nowhere", () => redirect().route("unknown").with("lost", "yes")),
  ]);

const messages = ["a", "e", "w", "i"].map((message, at) => ({
  level: ["success", "error", "warning", "info"][at],
  message,
}));
const nothing = { messages: [], data: {}, errors: {}, input: {}, marks: [] };

const ages = async (answer: Promise<Response>) =>
  (await answer).headers.getSetCookie().map((line) => /Max-Age=(\d+)/.exec(line)?.[1]);

async function withApp(
  work: (app: TestApp, browser: ReturnType<TestApp["withCookies"]>) => Promise<void>,
): Promise<void> {
  const builder = Application.create().session(SessionConfig.pages(KEY)).routes(routes());
  await using app = await testApp(builder, provide(Clock).useValue(new FakeClock()));
  await work(app, app.withCookies());
}

describe("flash", () => {
  it("is read once, in order, with its levels", () =>
    withApp(async (_app, browser) => {
      await browser.post("/add/a");

      expect(await (await browser.get("/")).json()).to.deep.equal({ ...nothing, messages });
      expect(await (await browser.get("/")).json()).to.deep.equal(nothing);
    }));

  it("stays while nothing takes it", () =>
    withApp(async (_app, browser) => {
      await browser.post("/add/a");
      await browser.get("/nowhere");

      expect(await (await browser.get("/peek")).json()).to.deep.equal({ ...nothing, messages });
      expect(await (await browser.get("/peek")).json()).to.deep.equal({ ...nothing, messages });
    }));

  it("is taken once in one request, and messages that are added afterwards stay", () =>
    withApp(async (_app, browser) => {
      await browser.post("/one");
      expect(await (await browser.get("/twice")).json()).to.deep.equal([
        { ...nothing, messages: [{ level: "success", message: "one" }] },
        nothing,
      ]);
      await browser.get("/fresh");
      expect(await (await browser.get("/")).json()).to.deep.equal({
        ...nothing,
        messages: [{ level: "info", message: "after" }],
      });
    }));

  it("is read as the session values _flash and _flash_data", () =>
    withApp(async (_app, browser) => {
      await browser.post("/one");
      await browser.post("/with");

      expect(await (await browser.get("/values")).json()).to.deep.equal([
        [{ level: "success", message: "one" }],
        { notice: "Saved again.", id: "7" },
      ]);
    }));

  for (const [title, path, headers] of [
    ["a redirect", "/moved", {}],
    ["a page that the browser has", "/unchanged", {}],
    ["a conflict", "/conflict", {}],
    ["a response without a body", "/nothing", {}],
    ["an error with a status", "/missing", {}],
    ["an unhandled error", "/panic", {}],
    ["a page that was put back", "/put-back", {}],
    ["a prefetch of the browser", "/", { "sec-purpose": "prefetch" }],
    ["a prerendering of the browser", "/", { "sec-purpose": "prefetch;prerender" }],
    ["a prefetch of the page protocol", "/", { purpose: "prefetch" }],
    ["a precognition", "/", { precognition: "true" }],
  ] as const)
    it(`is not cleared by ${title}`, () =>
      withApp(async (_app, browser) => {
        await browser.post("/add/a");

        await browser.get(path, { headers });

        expect(await (await browser.get("/")).json()).to.deep.equal({ ...nothing, messages });
      }));

  it("is not cleared by HEAD", () =>
    withApp(async (_app, browser) => {
      await browser.post("/add/a");
      await browser.head("/");

      expect(await (await browser.get("/")).json()).to.deep.equal({ ...nothing, messages });
    }));

  it("is cleared by a page with an error status", () =>
    withApp(async (_app, browser) => {
      await browser.post("/add/a");

      expect(await (await browser.get("/not-found-page")).json()).to.deep.equal({ ...nothing, messages });
      expect(await (await browser.get("/")).json()).to.deep.equal(nothing);
    }));

  it("keeps the messages of requests at the same time", () =>
    withApp(async (_app, browser) => {
      await browser.post("/one");

      await Promise.all(Array.from({ length: 20 }, () => browser.post("/one")));

      const { messages: all } = await (await browser.get("/")).json<{ messages: unknown[] }>();
      expect(all).to.have.lengthOf(21);
    }));

  it("is bounded for a client that reads no page", () =>
    withApp(async (_app, browser) => {
      for (let sent = 0; sent < 300; sent++) await browser.post("/one");

      const { messages: all } = await (await browser.get("/")).json<{ messages: unknown[] }>();
      expect(all.length).to.be.within(50, 256);
    }));

  it("creates no session by reading", () =>
    withApp(async (app) => {
      for (const path of ["/", "/peek", "/values", "/moved"])
        expect((await app.get(path)).headers.getSetCookie(), path).to.deep.equal([]);
    }));

  it("keeps a session without values for ten minutes, however much it is read; the first value gives it the whole lifetime", async () => {
    const clock = new FakeClock();
    const put = Route.post("/user", (ctx: Context) => Session.of(ctx).put("user", "ada"));
    const builder = Application.create().session(SessionConfig.pages(KEY));
    await using app = await testApp(builder.routes(routes().merge(new Routes([put]))), provide(Clock).useValue(clock));
    const [late, early] = [app.withCookies(), app.withCookies()];

    expect(await ages(late.post("/one"))).to.deep.equal(["600"]);
    expect(await ages(early.post("/bag"))).to.deep.equal(["600"]);
    clock.advance(300_000);
    for (const browser of [late, early]) expect(await ages(browser.get("/peek"))).to.deep.equal([]);
    expect(await ages(late.get("/"))).to.deep.equal([]);
    expect(await ages(late.post("/one"))).to.deep.equal([]);
    expect(await ages(early.post("/user"))).to.deep.equal(["1209600"]);
    clock.advance(300_000);

    expect(await (await late.get("/peek")).json()).to.deep.equal(nothing);
    clock.advance(13 * 86_400_000);
    expect(await (await early.get("/peek")).json()).to.have.nested.property("errors.invite.email[0]", "one");
  });

  it("creates a session with the whole lifetime beside a value, and never a longer one", async () => {
    const both = Route.post("/both", (ctx: Context) => {
      Flash.of(ctx).success("Welcome");
      Session.of(ctx).put("user", "ada");
    });
    for (const [idleMs, path, age] of [
      [60_000, "/one", "60"],
      [7_200_000, "/both", "7200"],
    ] as const) {
      const builder = Application.create().session(SessionConfig.pages(KEY, { idleMs }));
      await using app = await testApp(builder.routes(routes().merge(new Routes([both]))));
      expect((await app.post(path)).headers.getSetCookie()[0]).to.include(`Max-Age=${age};`);
    }
  });

  it("is the same empty object for every request without any", async () => {
    let found: unknown;
    const look = Route.get("/", (ctx: Context) => {
      found = FlashPort.find(ctx)?.take();
      return "";
    });
    await using app = await testApp(
      Application.create()
        .session(new SessionConfig(KEY))
        .routes(new Routes([look])),
    );
    await app.get("/");

    expect(found).to.equal(NO_FLASH);
    expect(FlashPort.find(context())).to.equal(undefined);
  });

  it("refuses unknown levels, messages that are not text, and names of its own in the session", async () => {
    const faults: string[] = [];
    const fails = (work: () => void) => {
      try {
        work();
      } catch (error) {
        faults.push(error instanceof TypeError ? error.message : String(error));
      }
    };
    const wrong = Route.get("/", (ctx: Context) => {
      // @ts-expect-error no level
      fails(() => Flash.of(ctx).addMessage("fatal", "x"));
      // @ts-expect-error no text
      fails(() => Flash.of(ctx).success({ text: "x" }));
      fails(() => Session.of(ctx).put("_flash", []));
      fails(() => Flash.of(ctx).addData("\ud800", "x"));
      fails(() => Flash.of(ctx).addErrors({}, "x".repeat(257)));
      return "";
    });
    await using app = await testApp(
      Application.create()
        .session(new SessionConfig(KEY))
        .routes(new Routes([wrong])),
    );
    await app.get("/");

    expect(faults).to.have.lengthOf(5);
    expect(faults[2]).to.include("use Flash.of(ctx)");
    expect(faults[3]).to.equal(faults[4]).and.include("a text of at most 256 characters, without lone surrogates");
  });

  it("needs the session stage", () => {
    expect(() => Flash.of(context())).to.throw(".session(new SessionConfig(key))");
  });
});

describe("a redirect", () => {
  it("leaves texts for the next page", () =>
    withApp(async (_app, browser) => {
      expect((await browser.post("/with")).status).to.equal(303);

      expect(await (await browser.get("/")).json()).to.deep.equal({
        ...nothing,
        data: { notice: "Saved again.", id: "7" },
      });
    }));

  it("leaves errors and the old input, without fields that are named like a secret", () =>
    withApp(async (_app, browser) => {
      const secrets = [
        "password",
        "Password",
        "new-password",
        "passwordConfirmation",
        "_token",
        "apiKey",
        "api_key",
        "card",
        "cvv",
        "privateKey",
        "client_secret",
        "card-cvc",
        "passCode",
        "PIN",
        "otp",
        "newPass",
        "user_pass",
        "pass-confirm",
        "login.pin",
        "passwort",
        "security_code",
        "securityCode",
        "mfa_code",
        "ssn",
      ];
      const form = {
        name: "A",
        tags: ["x", "y"],
        body: "a text",
        shipping: "by air",
        compass: "north",
        ...Object.fromEntries(secrets.map((name) => [name, "hidden"])),
      };

      const response = await browser.post("/form", { form, headers: { referer: "/" } });

      expect(response.headers.get("location")).to.equal("/");
      expect(await (await browser.get("/")).json()).to.deep.equal({
        ...nothing,
        errors: { default: { name: "Too short", "address.city": "invalid" } },
        input: { name: "A", tags: ["x", "y"], body: "a text", shipping: "by air", compass: "north" },
      });
    }));

  it("leaves errors and the old input also for fields with names of JavaScript", () =>
    withApp(async (_app, browser) => {
      for (const name of ["toJSON", "__defineGetter__", "constructor", "then", "_flash"]) {
        const body = `${name}=x`;
        const headers = { "content-type": "application/x-www-form-urlencoded" };

        expect((await browser.post("/names", { body, headers })).status, name).to.equal(303);
        const page = await (await browser.get("/")).text();
        expect(page).to.include(`"errors":{"default":{"${name}":"unknown"}},"input":{"${name}":"x"}`);
      }
    }));

  it("leaves lists and objects of the old input, without the secrets in them", () =>
    withApp(async (_app, browser) => {
      const body = "name=A&user[name]=Ada&user[password]=hidden&rows[0][note]=x&rows[0][pin]=hidden&tags[]=t";
      const headers = { "content-type": "application/x-www-form-urlencoded", referer: "/" };

      await browser.post("/form", { body, headers });

      const { input } = (await (await browser.get("/")).json()) as { readonly input: object };
      expect(input).to.deep.equal({ name: "A", user: { name: "Ada" }, rows: [{ note: "x" }], tags: ["t"] });
    }));

  it("leaves errors in a bag, and input that was given", () =>
    withApp(async (_app, browser) => {
      await browser.post("/bag");

      expect(await (await browser.get("/")).json()).to.deep.equal({
        ...nothing,
        errors: { invite: { email: ["one", "two"] } },
        input: { email: "a@" },
      });
    }));

  it("leaves no input of the page protocol's client, and none above the limit", () =>
    withApp(async (_app, browser) => {
      const inputOf = async (form: Record<string, string>, headers = {}) => {
        await browser.post("/form", { form, headers });
        return (await (await browser.get("/")).json<{ input: unknown }>()).input;
      };

      expect(await inputOf({ name: "A" }, { "x-inertia": "true" })).to.deep.equal({});
      expect(await inputOf({ essay: "x".repeat(40_000), name: "A" })).to.deep.equal({ name: "A" });
    }));

  it("leaves no errors above the limit, so that a form with a thousand wrong names gets a response", () =>
    withApp(async (_app, browser) => {
      const names = Array.from({ length: 900 }, (_, at) => `${at}`.padEnd(400, "x"));

      const response = await browser.post("/names", { form: Object.fromEntries(names.map((name) => [name, "1"])) });
      const { errors } = await (await browser.get("/")).json<{ errors: Record<string, object> }>();

      expect(response.status).to.equal(303);
      expect(Object.keys(errors["default"] ?? {})).to.deep.equal(names.slice(0, 80));
    }));

  it("leaves nothing if it fails, and is a warning without a session stage", async () => {
    await withApp(async (_app, browser) => {
      expect((await browser.post("/nowhere")).status).to.equal(500);
      expect(await (await browser.get("/")).json()).to.deep.equal(nothing);
    });
    for (const builder of [Application.create(), Application.create().redirectMapper(false)]) {
      await using app = await testApp(builder.routes(routes()));
      expect((await app.post("/with")).status).to.equal(303);
      expect(app.logs.transcript()).to.include("redirect data dropped").and.not.include("Saved");
    }
  });
});
