/** Compile-only: what the stages of edge and admission are given, and what must not compile. */
import { Application } from "../../lib/app/application.js";
import { BodyLimitLayer } from "../../lib/stages/body-limit.js";
import { RateLimit } from "../../lib/stages/rate-limit/rate-limit.js";
import type { Cache } from "../../lib/cache/cache.js";
import { CspNonce } from "../../lib/stages/security-headers/csp-nonce.js";
import { ProxyAction } from "../../lib/stages/proxy.js";
import { Route } from "../../lib/routing/route.js";
import { CsrfConfig, MemorySessionStore, Session, SessionConfig, sessionKey } from "../../lib/entries/session.js";
import { redirect } from "../../lib/stages/redirects/redirect.js";
import type { Context } from "../../lib/http/request/context.js";

const builder = Application.create();
declare const cache: Cache;
declare const visit: Context;

// --- CORS ----------------------------------------------------------------------------------------------------------------

builder.cors({ origins: "*" }).cors({ origins: ["https://app.example"], credentials: true });
builder.cors({ origins: async (origin, ctx) => origin.endsWith(".example") && ctx.path !== "/" });
// @ts-expect-error who may ask has to be said
builder.cors({});
// @ts-expect-error a single origin is a list of one: a bare text could only be "*"
builder.cors({ origins: "https://app.example" });
// @ts-expect-error a predicate decides
builder.cors({ origins: (origin) => origin });

// --- proxy ---------------------------------------------------------------------------------------------------------------

builder.proxy(async ({ url }) => ProxyAction.rewrite(`/v2${url}`));
// @ts-expect-error going on is said, too
builder.proxy(() => undefined);
// @ts-expect-error a URL is wrapped in what is to be done with it
builder.proxy(({ url }) => url);
// @ts-expect-error the request is read-only: `continue` is given the changes
builder.proxy((request) => ((request.headers["x-a"] = "1"), ProxyAction.continue()));

// --- nonce ---------------------------------------------------------------------------------------------------------------

Route.get("/", (ctx) => CspNonce.find(ctx)?.attribute());
// @ts-expect-error it may be missing
Route.get("/", (ctx) => CspNonce.find(ctx).attribute());
// @ts-expect-error only the framework makes one
export const nonce = new CspNonce("guessed");

// --- limits --------------------------------------------------------------------------------------------------------------

builder
  .bodyLimit(1000, { cap: 2000 })
  .timeout(1000, { status: 503 })
  .rateLimit(RateLimit.perMinute(1).by("global").redis(cache, "a"));
Route.post("/", () => {}).middleware(new BodyLimitLayer(10), RateLimit.perHour(1).by({ header: "x-api-key" }));
RateLimit.perSecond(1)
  .by((ctx) => ctx.get("x-tenant"))
  .onBackendError("allow");
// @ts-expect-error clients are distinguished by "ip", "global", a header or a function
RateLimit.perSecond(1).by("session");
// @ts-expect-error a key is there at once: what takes time is looked up before
RateLimit.perSecond(1).by(async () => "key");
// @ts-expect-error the choice is to refuse or to allow
RateLimit.perSecond(1).onBackendError("fail");
// @ts-expect-error a quota has a window
export const limit = new RateLimit(10);
// @ts-expect-error the shared store is a cache, not its address
RateLimit.perSecond(1).redis("redis://127.0.0.1");

// --- sessions ------------------------------------------------------------------------------------------------------------

const CART = sessionKey<{ readonly items: readonly string[] }>("cart");
export const cart: Promise<{ readonly items: readonly string[] } | undefined> = Session.of(visit).get(CART);
export const anything: Promise<unknown> = Session.of(visit).get("cart");
Session.of(visit).put(CART, { items: ["a"] });
Session.of(visit).put("cart", 7);
// @ts-expect-error a typed key takes its own type
Session.of(visit).put(CART, { items: [7] });
// @ts-expect-error a value is there later
export const items = Session.of(visit).get(CART).items;
// @ts-expect-error sessionKey creates a key
Session.of(visit).put({ name: "cart" }, 1);
builder.session(SessionConfig.pages("key"), new MemorySessionStore()).csrf(CsrfConfig.pages().dev());
// @ts-expect-error the key alone is not a configuration
builder.session("key");
redirect().to("/").with("notice", "text").withErrors({ name: "too short" }, "bag").withInput({ name: "A" });
// @ts-expect-error data of a redirect is text
redirect().with("count", 7);
