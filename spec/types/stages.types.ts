/** Compile-only: what the stages of edge and admission are given, and what must not compile. */
import { Application } from "../../lib/app/application.js";
import { BodyLimitLayer } from "../../lib/stages/body-limit.js";
import { RateLimit } from "../../lib/stages/rate-limit/rate-limit.js";
import type { Cache } from "../../lib/lifecycle/cache.js";
import { CspNonce } from "../../lib/stages/security-headers/csp-nonce.js";
import { ProxyAction } from "../../lib/stages/proxy.js";
import { Route } from "../../lib/routing/route.js";

const builder = Application.create();
declare const cache: Cache;

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

builder.bodyLimit(1000, { cap: 2000 }).timeout(1000).rateLimit(RateLimit.perMinute(1).by("global").redis(cache, "a"));
Route.post("/", () => {}).middleware(new BodyLimitLayer(10), RateLimit.perHour(1).by({ header: "x-api-key" }));
RateLimit.perSecond(1)
  .by((ctx) => ctx.get("x-tenant"))
  .onBackendError("allow");
// @ts-expect-error clients are told apart by "ip", "global", a header or a function
RateLimit.perSecond(1).by("session");
// @ts-expect-error a key is there at once: what takes time is looked up before
RateLimit.perSecond(1).by(async () => "key");
// @ts-expect-error the choice is to refuse or to allow
RateLimit.perSecond(1).onBackendError("fail");
// @ts-expect-error a quota has a window
export const limit = new RateLimit(10);
// @ts-expect-error the shared store is a cache, not its address
RateLimit.perSecond(1).redis("redis://127.0.0.1");
