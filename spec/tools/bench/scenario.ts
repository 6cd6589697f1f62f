/** The scenarios under load: their requests, the expected responses and the contenders. */

import {
  ALL_PEERS,
  BASELINE,
  type Contender,
  EXPRESS,
  FASTIFY,
  FASTIFY_BY_HAND,
  FASTIFY_OTEL,
  FASTIFY_OTEL_ONE_SPAN,
  INERTIA_ADAPTERS,
  KOA,
  KOA_CONDITIONAL,
  NEST_EXPRESS,
  NEST_FASTIFY,
  NEST_FASTIFY_BY_HAND,
  ours,
} from "./contender.js";
import { type BenchFile, LARGE_FILE, MODIFIED, SMALL_FILE } from "./files.js";
import {
  API_TOKEN,
  areaResponse,
  areaPath,
  BODY_LIMIT,
  ECHO_BODY,
  escapedForScript,
  HELLO,
  LinkStore,
  NO_NAME,
  ORIGIN,
  PAGE_VERSION,
  pageDocument,
  pageObject,
} from "./fixtures.js";
import type { BenchRequest } from "./load.js";
import type { Probe } from "./probe.js";

export interface Scenario {
  readonly name: string;
  /** The heading of its table. */
  readonly what: string;
  /** The first one is the base of the ratios. */
  readonly contenders: readonly Contender[];
  readonly requests: readonly BenchRequest[];
  /** Sent once to each server; its cookies go with all other requests. */
  readonly signIn?: BenchRequest;
  readonly probes: readonly Probe[];
}

const get = (path: string, headers: Readonly<Record<string, string>> = {}): BenchRequest => ({
  method: "GET",
  path,
  headers,
});

const everyone: readonly Contender[] = [...ALL_PEERS, ours()];
const JSON_TYPE = /^application\/json/;
const ids = Array.from({ length: 64 }, (_, index) => String(index + 1));
const json = (value: unknown): string => JSON.stringify(value);

const hello: Scenario = {
  name: "hello",
  what: "GET / with a short text as the response",
  contenders: everyone,
  requests: [get("/")],
  probes: [
    {
      request: get("/"),
      status: 200,
      body: HELLO,
      headers: { "content-type": /^text\/plain/, "content-length": String(HELLO.length) },
    },
    { request: get("/nothing"), status: 404 },
  ],
};

const param: Scenario = {
  name: "param",
  what: "GET /links/{id}: one path parameter, an injected service, its object as JSON",
  contenders: everyone,
  requests: ids.map((id) => get(`/links/${id}`)),
  probes: ["7", "a%20b"].map((id) => ({
    request: get(`/links/${id}`),
    status: 200,
    body: json(new LinkStore().find(decodeURIComponent(id))),
    headers: { "content-type": JSON_TYPE },
  })),
};

/** The number of routes in the name, all with a parameter; requests go to 64 of them, spread from the first to the last. */
function routes(count: number): Scenario {
  const asked = ids.map((id, index) => ({ id, area: Math.round((index * (count - 1)) / (ids.length - 1)) }));
  return {
    name: `routes:${count}`,
    what: `GET on ${count} routes, each with a path parameter, asked evenly from the first to the last`,
    contenders: everyone,
    requests: asked.map(({ area, id }) => get(areaPath(area, id))),
    probes: asked.map(({ area, id }) => ({
      request: get(areaPath(area, id)),
      status: 200,
      body: areaResponse(area, id),
    })),
  };
}

const tooLarge = json("x".repeat(BODY_LIMIT));
const jsonPost = { "content-type": "application/json" };

const echo: Scenario = {
  name: "echo",
  what: "POST /echo: 1 KiB of JSON read with a limit of 2 MiB, parsed, and sent back; also by a handler that assigns ctx.body",
  contenders: [...everyone, ours("stagecraft-assigned", "echo-assigned")],
  requests: [{ method: "POST", path: "/echo", headers: jsonPost, body: ECHO_BODY }],
  probes: [
    {
      request: { method: "POST", path: "/echo", headers: jsonPost, body: ECHO_BODY },
      status: 200,
      body: ECHO_BODY,
      headers: { "content-type": JSON_TYPE, "content-length": "1024" },
    },
    { request: { method: "POST", path: "/echo", headers: jsonPost, body: '{"half":' }, status: 400 },
    {
      request: { method: "POST", path: "/echo", headers: jsonPost, body: tooLarge },
      status: 413,
    },
  ],
};

const peersWithSchemas: readonly Contender[] = [FASTIFY, NEST_FASTIFY];
const echoWithSchema: BenchRequest = { method: "POST", path: "/echo", headers: jsonPost, body: ECHO_BODY };
const refusedBody = ECHO_BODY.replace("ada@example.org", "ada");

const echoSchema: Scenario = {
  name: "echo-schema",
  what: "the echo scenario with a schema for the body: zod in an endpoint, Ajv in Fastify, class-validator in NestJS; also without the schema, with a guard, and with responses stripped",
  contenders: [
    ...peersWithSchemas,
    ours("stagecraft-without", "echo"),
    ours(),
    ours("stagecraft-guarded", "echo-schema-guarded"),
    ours("stagecraft-stripped", "echo-schema-stripped"),
  ],
  requests: [echoWithSchema],
  probes: [
    { request: echoWithSchema, status: 200, body: ECHO_BODY, headers: { "content-type": JSON_TYPE } },
    {
      of: peersWithSchemas.map(({ name }) => name),
      request: { ...echoWithSchema, body: refusedBody },
      status: 400,
    },
    {
      of: [ours().name, "before", "stagecraft-guarded", "stagecraft-stripped"],
      request: { ...echoWithSchema, body: refusedBody },
      status: 422,
    },
  ],
};

const hasId = { "x-request-id": /^[0-9a-f-]{36}$/ };

const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };

const observe: Scenario = {
  name: "observe",
  what: "the param scenario with request id, trace context, a JSON access line to a file, and metrics",
  contenders: [
    ours("stagecraft-without", "param"),
    ours("stagecraft-context", "param-in-context"),
    ours(),
    FASTIFY_BY_HAND,
    FASTIFY,
    FASTIFY_OTEL_ONE_SPAN,
    FASTIFY_OTEL,
    BASELINE,
  ],
  requests: ids.map((id) => get(`/links/${id}`, trace)),
  probes: param.probes,
};

const fullHeaders = { ...trace, origin: ORIGIN, "accept-encoding": "gzip, deflate, br" };

const full: Scenario = {
  name: "full",
  what: "the observe scenario with security headers and a CSP nonce, CORS, compression, body limit, timeout, rate limit and error mapping",
  contenders: [...ALL_PEERS, FASTIFY_BY_HAND, NEST_FASTIFY_BY_HAND, ours()],
  requests: ids.map((id) => get(`/links/${id}`, fullHeaders)),
  probes: [
    {
      request: get("/links/7", fullHeaders),
      status: 200,
      body: json(new LinkStore().find("7")),
      headers: {
        ...hasId,
        "content-type": JSON_TYPE,
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "strict-origin-when-cross-origin",
        "content-security-policy": /'nonce-[A-Za-z0-9+/]{22,32}={0,2}'/,
        "access-control-allow-origin": ORIGIN,
        "ratelimit-limit|x-ratelimit-limit": /^\d+$/,
        "ratelimit-remaining|x-ratelimit-remaining": /^\d+$/,
        vary: /origin/i,
      },
    },
    { request: get("/nothing", fullHeaders), status: 404, headers: { ...hasId, "content-type": /problem\+json/ } },
    {
      request: { method: "POST", path: "/links", headers: jsonPost, body: tooLarge },
      status: 413,
      headers: { ...hasId, "x-frame-options": "DENY" },
    },
  ],
};

const fileServers: readonly Contender[] = [KOA, FASTIFY, EXPRESS, ours()];

function staticFile(name: string, { path, content }: BenchFile): Scenario {
  const request = get(path);
  return {
    name: `static:${name}`,
    what: `a file of ${name}B, beside koa-static, @fastify/static and express.static`,
    contenders: fileServers,
    requests: [request],
    probes: [{ request, status: 200, body: content, headers: { "content-length": String(content.length) } }],
  };
}

const unchanged = get(SMALL_FILE.path, { "if-modified-since": MODIFIED.toUTCString() });

const notModified: Scenario = {
  name: "static:304",
  what: "the small file, which the client has already",
  contenders: [KOA_CONDITIONAL, FASTIFY, EXPRESS, ours()],
  requests: [unchanged],
  probes: [{ request: unchanged, status: 304, body: "" }],
};

const limit: Scenario = {
  name: "limit",
  what: "the hello scenario under a rate limit: the same key every time, and a key per request, also after a million others",
  contenders: [
    ours("same-key", "limit-constant"),
    ours("fresh-key-per-second", "limit-fresh-per-second"),
    ours("fresh-key-per-hour", "limit-fresh-per-hour"),
    ours("fresh-key-after-a-million", "limit-fresh-after-a-million"),
  ],
  requests: [get("/")],
  probes: [{ request: get("/"), status: 200, body: HELLO, headers: { "ratelimit-remaining": /^\d+$/ } }],
};

const visit = { "x-inertia": "true", "x-inertia-version": PAGE_VERSION };

const pageContenders: readonly Contender[] = [BASELINE, ours(), ...INERTIA_ADAPTERS];
/** The adapters have members and headers of their own. */
const SAME_BYTES: readonly string[] = [BASELINE.name, ours().name, "before"];

const page: Scenario = {
  name: "page",
  what: "GET /links of the Inertia client: a page with 20 props as JSON, beside the adapters of Hono and AdonisJS",
  contenders: pageContenders,
  requests: [get("/links", visit)],
  probes: [
    {
      of: SAME_BYTES,
      request: get("/links", visit),
      status: 200,
      body: json(pageObject("/links")),
      headers: { "content-type": JSON_TYPE, "x-inertia": "true", vary: "X-Inertia", "cache-control": "no-store" },
    },
    {
      request: get("/links", visit),
      status: 200,
      body: /"component":"links\/index".*"prop20":20/,
      headers: { "content-type": JSON_TYPE, "x-inertia": "true", vary: /x-inertia/i },
    },
    { request: get("/links", { ...visit, "x-inertia-version": "v0" }), status: 409 },
  ],
};

const document: Scenario = {
  name: "document",
  what: "GET /links of a browser: the document of the same page, with the tags of a manifest",
  contenders: pageContenders,
  requests: [get("/links")],
  probes: [
    {
      of: SAME_BYTES,
      request: get("/links"),
      status: 200,
      body: pageDocument(escapedForScript(json(pageObject("/links")))),
      headers: { "content-type": /^text\/html/, vary: "X-Inertia" },
    },
    {
      request: get("/links"),
      status: 200,
      body: /shared-3a4b5c6d\.css.*prop20/s,
      headers: { "content-type": /^text\/html/ },
    },
  ],
};

const session: Scenario = {
  name: "session",
  what: "GET / with the cookie of a session: its signature is verified, and one value is read from memory",
  contenders: [BASELINE, FASTIFY, KOA, NEST_EXPRESS, ours()],
  signIn: get("/begin"),
  requests: [get("/")],
  probes: [
    { request: get("/"), status: 200, body: HELLO, headers: { "content-type": /^text\/plain/ } },
    { request: get("/", { cookie: "" }), status: 200, body: NO_NAME },
  ],
};

const identity: Scenario = {
  name: "signed-in",
  what: "GET / with the cookie of a session: one value is read, or the guard signedIn reads the identity",
  contenders: [ours("session", "session"), ours("signed-in", "signed-in")],
  signIn: get("/begin"),
  requests: [get("/")],
  probes: [{ request: get("/"), status: 200, body: HELLO, headers: { "content-type": /^text\/plain/ } }],
};

const withToken = { authorization: `Bearer ${API_TOKEN}` };

const apiToken: Scenario = {
  name: "api-token",
  what: "GET / with the cookie of a session, of which one value is read, or with an API token that was seen a second ago",
  contenders: [ours("session", "session"), ours("api-token", "api-token")],
  signIn: get("/begin"),
  requests: [get("/", withToken)],
  probes: [
    { request: get("/", withToken), status: 200, body: HELLO, headers: { "content-type": /^text\/plain/ } },
    { of: ["api-token"], request: get("/"), status: 401 },
  ],
};

const german = { "accept-language": "de-AT,de;q=0.9,en;q=0.5" };

const translated: Scenario = {
  name: "translated",
  what: "GET / with a short text: a constant, a message in the language of the client, or one with two values",
  contenders: [
    ours("constant", "hello"),
    ours("translated", "translated"),
    ours("translated-values", "translated-values"),
  ],
  requests: [get("/", german)],
  probes: [
    { request: get("/", german), status: 200, body: HELLO, headers: { "content-type": /^text\/plain/ } },
    { of: ["translated", "translated-values"], request: get("/"), status: 200, body: "Fallback" },
  ],
};

export const SCENARIOS: readonly Scenario[] = [
  hello,
  param,
  routes(10),
  routes(100),
  routes(1000),
  echo,
  echoSchema,
  observe,
  full,
  staticFile("4Ki", SMALL_FILE),
  staticFile("1Mi", LARGE_FILE),
  notModified,
  limit,
  page,
  document,
  session,
  identity,
  apiToken,
  translated,
];
