/** Every kind of result of a handler, with the status of its response. A stage that has a rule for every response is tested with each. */
import { Readable } from "node:stream";
import type { Context } from "../../lib/http/request/context.js";
import { NotFoundError, UnavailableError } from "../../lib/errors/framework-error.js";

export const HANDLER_RESULTS: readonly (readonly [what: string, status: number, handler: (ctx: Context) => unknown])[] =
  [
    ["a text", 200, () => "hello"],
    ["JSON", 200, () => ({ a: 1 })],
    ["a stream", 200, () => Readable.from(["a", "b"])],
    ["no value", 204, () => undefined],
    ["its own status", 418, (ctx) => ((ctx.status = 418), "teapot")],
    ["a status alone", 404, (ctx) => void (ctx.status = 404)],
    ["an error with a status", 404, () => Promise.reject(new NotFoundError("no"))],
    ["an error of ctx.throw", 409, (ctx) => ctx.throw(409, "taken")],
    ["a failure of the server", 503, () => Promise.reject(new UnavailableError())],
    ["a panic", 500, () => Promise.reject(new Error("boom"))],
    ["a thrown string", 500, () => Promise.reject("boom")], // oxlint-disable-line prefer-promise-reject-errors -- hostile on purpose
    ["a thrown null", 500, () => Promise.reject(null)], // oxlint-disable-line prefer-promise-reject-errors -- hostile on purpose
    ["a value that is not JSON", 500, () => ({ big: 1n })],
    ["a header value that Node refuses", 500, (ctx) => ctx.set("X-Bad", "a\r\nSet-Cookie: b=1")],
    ["a write by hand", 201, (ctx) => void ctx.res.writeHead(201, { "X-Hand": "1" }).end("by hand")],
    ["a write by hand without a head", 203, (ctx) => ((ctx.res.statusCode = 203), void ctx.res.end("by hand"))],
    ["a write by hand through Koa's response", 200, ({ response }) => void response.res.writeHead(200).end("by hand")],
    ["a write by hand through Koa's request", 200, ({ request }) => void request.res.writeHead(200).end("by hand")],
    ["a write by hand, later", 202, later],
  ];

function later(ctx: Context): void {
  ctx.respond = false;
  const { res } = ctx;
  setImmediate(() => res.writeHead(202).end("by hand"));
}
