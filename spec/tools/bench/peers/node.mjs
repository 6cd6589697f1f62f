/** The yardstick: node:http by hand, no more and no less than each scenario asks for. */
import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import {
  areaResponse,
  BODY_LIMIT,
  escapedForScript,
  HELLO,
  LinkStore,
  NO_NAME,
  PAGE_VERSION,
  SESSION_KEY,
  pageDocument,
  pageObject,
} from "../../../../dist/spec/tools/bench/fixtures.js";
import { listening, serve } from "./support/serve.mjs";

const TEXT = "text/plain; charset=utf-8";
const JSON_TYPE = "application/json";

function respond(response, status, type, body) {
  response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

const notFound = (response) => respond(response, 404, TEXT, "");

/** The decoded rest of the path below `prefix`, if there is one and it is one segment. */
function parameter(url, prefix) {
  if (!url.startsWith(prefix)) return undefined;
  const query = url.indexOf("?");
  const raw = query < 0 ? url.slice(prefix.length) : url.slice(prefix.length, query);
  if (raw === "" || raw.includes("/")) return undefined;
  return raw.includes("%") ? decodeURIComponent(raw) : raw;
}

function readJson(request, response, then) {
  if (Number(request.headers["content-length"]) > BODY_LIMIT) return respond(response, 413, TEXT, "");
  if (!request.headers["content-type"]?.startsWith(JSON_TYPE)) return respond(response, 415, TEXT, "");
  const chunks = [];
  let size = 0;
  request.on("data", (chunk) => {
    size += chunk.length;
    if (size > BODY_LIMIT) {
      respond(response, 413, TEXT, "");
      request.destroy();
    } else chunks.push(chunk);
  });
  request.on("end", () => {
    let value;
    try {
      value = JSON.parse(chunks.length === 1 ? chunks[0].toString() : Buffer.concat(chunks).toString());
    } catch {
      return respond(response, 400, TEXT, "");
    }
    then(value);
  });
}

function pages(on, isDocument) {
  const server = createServer((request, response) => {
    if (request.method !== "GET" || request.url !== "/links") return notFound(response);
    const isVisit = request.headers["x-inertia"] === "true";
    if (isVisit && request.headers["x-inertia-version"] !== PAGE_VERSION) {
      response.writeHead(409, { "X-Inertia-Location": request.url, Vary: "X-Inertia", "Content-Length": 0 });
      return response.end();
    }
    const json = JSON.stringify(pageObject(request.url));
    const body = isDocument ? pageDocument(escapedForScript(json)) : json;
    const type = isDocument
      ? { "Content-Type": "text/html; charset=utf-8" }
      : { "Content-Type": JSON_TYPE, "X-Inertia": "true", "Cache-Control": "no-store" };
    response.writeHead(200, { ...type, "Content-Length": Buffer.byteLength(body), Vary: "X-Inertia" });
    response.end(body);
  });
  return listening(server, on);
}

const key = createSecretKey(Buffer.from(SESSION_KEY, "hex"));
const mac = (id) => createHmac("sha256", key).update(`id=${id}`).digest("base64url");

/** The id of a cookie whose signature is valid. */
function sessionId(cookies = "") {
  const value = /(?:^|; ?)id=([\w-]{22})\.([\w-]{43})(?:;|$)/.exec(cookies);
  if (value === null) return undefined;
  const [, id, given] = value;
  return timingSafeEqual(Buffer.from(mac(id)), Buffer.from(given)) ? id : undefined;
}

await serve({
  page: (on) => pages(on, false),
  document: (on) => pages(on, true),

  hello: (on) =>
    listening(
      createServer((request, response) => {
        if (request.method === "GET" && request.url === "/") respond(response, 200, TEXT, HELLO);
        else notFound(response);
      }),
      on,
    ),

  param: (on) => {
    const store = new LinkStore();
    const server = createServer((request, response) => {
      const id = request.method === "GET" ? parameter(request.url, "/links/") : undefined;
      if (id === undefined) notFound(response);
      else respond(response, 200, JSON_TYPE, JSON.stringify(store.find(id)));
    });
    return listening(server, on);
  },

  routes: (on) => {
    const areas = new Map(
      Array.from({ length: on.count }, (_, area) => [`area-${area}`, (id) => areaResponse(area, id)]),
    );
    const server = createServer((request, response) => {
      const [, area, items, id, ...rest] = request.url.split("/");
      const handler = items === "items" && id && rest.length === 0 ? areas.get(area) : undefined;
      if (handler === undefined) notFound(response);
      else respond(response, 200, TEXT, handler(decodeURIComponent(id)));
    });
    return listening(server, on);
  },

  echo: (on) => {
    const server = createServer((request, response) => {
      if (request.method !== "POST" || request.url !== "/echo") notFound(response);
      else readJson(request, response, (value) => respond(response, 200, JSON_TYPE, JSON.stringify(value)));
    });
    return listening(server, on);
  },

  session: (on) => {
    const values = new Map();
    const server = createServer((request, response) => {
      if (request.method === "GET" && request.url === "/") {
        const id = sessionId(request.headers.cookie);
        respond(response, 200, TEXT, (id === undefined ? undefined : values.get(id)?.name) ?? NO_NAME);
      } else if (request.method === "GET" && request.url === "/begin") {
        const id = randomBytes(16).toString("base64url");
        values.set(id, { name: HELLO });
        response.setHeader("Set-Cookie", `id=${id}.${mac(id)}; Path=/; HttpOnly; SameSite=Strict`);
        respond(response, 200, TEXT, "");
      } else notFound(response);
    });
    return listening(server, on);
  },

  observe: async (on) => (await import("./support/node-production.mjs")).observe(on),

  full: async (on) => (await import("./support/node-production.mjs")).full(on),
});
