/** The typed client against servers that break their contract, over a real socket. */
import { expect } from "chai";
import http, { type ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { z } from "zod";
import { client, ClientProblem, content, Get, Head, Post, routes } from "@stagecraft/framework/routes";
import { type Listening, listening } from "../support/listening.js";
import { rejectionOf } from "../support/rejection-of.js";
import { until } from "../support/until.js";

const Link = z.object({ id: z.int() });

const links = routes("links", "", {
  show: Get("/show", { responses: { 200: Link } }),
  head: Head("/show", { responses: { 200: Link } }),
  plain: Get("/plain"),
  lines: Get("/lines", { responses: { 200: content.jsonLines(Link) } }),
  events: Get("/events", { responses: { 200: content.events(Link) } }),
  open: Get("/events"),
  move: Post("/move", { responses: { 303: content.redirect() } }),
});

const MIB = 1_048_576;

type Respond = (response: ServerResponse) => void;

const send =
  (body: string | Uint8Array, type: string, status = 200): Respond =>
  (response) =>
    void response.writeHead(status, { "content-type": type }).end(body);

/** Sends the chunks, and the last of them again and again, as fast as the client reads. */
const sendForever =
  (type: string, ...chunks: readonly string[]): Respond =>
  (response) => {
    response.writeHead(200, { "content-type": type });
    pipeline(Readable.from(repeatLast(chunks)), response, () => closed++);
  };

function* repeatLast(chunks: readonly string[]): Generator<string> {
  yield* chunks;
  for (;;) yield chunks.at(-1) ?? "";
}

let respond: Respond = () => {};
let requests = 0;
let closed = 0;

async function collect(stream: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

async function readAll(call: Promise<AsyncIterable<unknown>>): Promise<readonly unknown[]> {
  return collect(await call);
}

async function problemOf(call: Promise<unknown>): Promise<ClientProblem> {
  const error = await rejectionOf(call);
  expect(error).to.be.instanceOf(ClientProblem);
  return error as ClientProblem;
}

const toDate = (offset: number): string => new Date(Date.now() + offset).toUTCString();

describe("the typed client of a server that breaks its contract", () => {
  let server: Listening<http.Server>;
  const connect = () => client(links, { origin: server.url });

  before(async () => {
    server = await listening(
      http.createServer((_request, response) => {
        requests++;
        respond(response);
      }),
    );
  });
  beforeEach(() => {
    requests = closed = 0;
  });
  after(() => server[Symbol.dispose]());

  for (const [what, body, type, status] of [
    ["empty", "", "application/json", 200],
    ["cut", '{"id":', "application/json", 200],
    ["a page", "<!doctype html>", "application/json; charset=utf-8", 200],
    ["not UTF-8", Uint8Array.of(0x7b, 0xff), "application/json", 200],
    ["two values", "{}{}", "application/json", 200],
    ["a problem that is cut", '{"title":', "application/problem+json", 404],
    ["a problem that is null", "null", "application/problem+json", 404],
  ] as const) {
    it(`gives a body of JSON that is ${what} as unexpected, with its bytes`, async () => {
      respond = send(body, type, status);

      const result = await connect().show.result();
      const problem = await problemOf(connect().show());

      if (result.status !== "unexpected") throw new Error(`status ${result.status}`);
      expect(result.response.status).to.equal(status);
      expect(result.response.headers.get("content-type")).to.equal(type);
      expect(Buffer.from(result.response.bytes)).to.deep.equal(Buffer.from(body));
      expect([problem.status, problem.body, problem.problem]).to.deep.equal([status, result.response.bytes, {}]);
    });
  }

  it("gives such a body as unexpected without a contract too, and at most 64 KiB of it", async () => {
    respond = send("x".repeat(100_000), "application/json");

    const result = await connect().plain.result();

    if (result.status !== "unexpected") throw new Error(`status ${result.status}`);
    expect(result.response.bytes).to.have.length(65_536);
  });

  it("reads no body of a response to HEAD, whatever its status", async () => {
    respond = send("", "application/problem+json", 404);

    expect(await connect().head.result()).to.include({ status: 404, body: undefined });
    expect(await problemOf(connect().head())).to.include({ status: 404, body: undefined });
  });

  it("rejects with the error of fetch where the connection ends inside the body", async () => {
    respond = (response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": 100 });
      response.write('{"id":', () => response.destroy());
    };

    expect(await rejectionOf(connect().show())).to.be.instanceOf(TypeError);
    expect(await rejectionOf(connect().show.result())).to.be.instanceOf(TypeError);
  });

  it("closes the connection of an endless unexpected body after 64 KiB", async () => {
    respond = sendForever("text/html", "x".repeat(10_000));

    const result = await connect().show.result();

    if (result.status !== "unexpected") throw new Error(`status ${result.status}`);
    expect(result.response.bytes).to.have.length(65_536);
    await until(() => closed === 1);
  });

  for (const [name, type, start, endless] of [
    ["lines", "application/x-ndjson", '{"id":1}\n"', "x".repeat(50_000)],
    ["events", "text/event-stream", 'data: {"id":1}\n\ndata: "', "x".repeat(50_000)],
    ["events", "text/event-stream", 'data: {"id":1}\n\n', `data: ${"x".repeat(1000)}\n`],
    ["open", "text/event-stream", "data: 1\n\n", `data: ${"x".repeat(1000)}\n`],
  ] as const) {
    it(`ends a stream with more than 1 MiB in one line or event: ${name} of ${endless.trim().length} characters`, async () => {
      respond = sendForever(type, start, endless);
      let read = 0;
      const loop = async (): Promise<void> => {
        for await (const item of (await connect()[name]()) as AsyncIterable<unknown>)
          read += item === undefined ? 0 : 1;
      };

      const problem = await problemOf(loop());

      expect(problem.message).to.match(/^GET \/\w+ sent a line of over 1 MiB$/);
      expect([read, problem.status, problem.body]).to.deep.equal([1, 200, undefined]);
      await until(() => closed === 1);
    });
  }

  it("reads a line and an event of nearly 1 MiB, and lines without end that are short", async () => {
    const long = JSON.stringify("x".repeat(MIB - 100));
    respond = send(`${long}\n{"id":2}`, "application/x-ndjson");
    expect(await collect(await connect().lines())).to.deep.equal([JSON.parse(long), { id: 2 }]);

    respond = send(`data: ${long}\n\n${": comment\n".repeat(200_000)}data: {"id":2}\n\n`, "text/event-stream");
    expect(await collect(await connect().events())).to.have.length(2);
  });

  for (const [name, type, body] of [
    ["lines", "application/x-ndjson", '{"id":1}\n<p>\n{"id":2}'],
    ["events", "text/event-stream", 'data: {"id":1}\n\ndata: <p>\n\ndata: {"id":2}\n\n'],
  ] as const) {
    it(`ends a stream at a line that is not JSON: ${name}`, async () => {
      respond = send(body, type);

      const problem = await problemOf(readAll(connect()[name]()));

      expect(problem.message).to.equal(`GET /${name} sent a line that is not JSON`);
    });
  }

  it("finds the ends of lines in whatever chunks they arrive", async () => {
    const bytes = Buffer.from('event: ä\r\ndata: {"id":\r\ndata: 1}\r\rdata: {"id":2}\n\r\ndata: {"id":3}\r\n\r\n');
    const body = new ReadableStream({
      start: (controller) => {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const response = new Response(body, { headers: { "content-type": "text/event-stream" } });
    const api = client(links, { origin: "", fetch: () => Promise.resolve(response) });

    const events = await collect(await api.events());

    expect(events).to.deep.equal([
      { event: "ä", data: { id: 1 }, id: undefined },
      { event: "message", data: { id: 2 }, id: undefined },
      { event: "message", data: { id: 3 }, id: undefined },
    ]);
  });

  it("gives a problem that is a text as unexpected, without members", async () => {
    respond = send('"title"', "application/problem+json", 404);

    expect((await connect().show.result()).status).to.equal("unexpected");
    expect((await problemOf(connect().show())).problem.title).to.equal(undefined);
  });

  it("ignores an id of an event that contains NUL", async () => {
    respond = send("id: 1\ndata: {}\n\nid: 2\0\ndata: {}\n\n", "text/event-stream");

    const events = await readAll(connect().events());

    expect(events).to.deep.equal(["1", "1"].map((id) => ({ event: "message", data: {}, id })));
  });

  it("ends with its signal in the middle of a stream, and closes the connection", async () => {
    respond = sendForever("application/x-ndjson", '{"id":1}\n');
    const abort = new AbortController();
    const stream = await connect().lines({ signal: abort.signal });
    const loop = async (): Promise<void> => {
      for await (const { id } of stream) if (id === 1) abort.abort(new Error("enough"));
    };

    expect(await rejectionOf(loop())).to.have.property("message", "enough");
    await until(() => closed === 1);
  });

  it("follows a redirect that is not declared, whose page is unexpected", async () => {
    respond = (response) => {
      if (requests === 1) response.writeHead(302, { location: "/login" }).end();
      else send("<p>", "text/html")(response);
    };

    expect(await connect().show.result()).to.have.property("status", "unexpected");
    expect(requests).to.equal(2);
  });

  it("rejects with the error of fetch where redirects do not end", async () => {
    respond = (response) => void response.writeHead(302, { location: "/show" }).end();

    expect(await rejectionOf(connect().show())).to.be.instanceOf(TypeError);
  });

  it("gives another status as unexpected where a redirect is declared", async () => {
    respond = (response) => void response.writeHead(302, { location: "/" }).end();

    expect(await connect().move.result()).to.have.property("status", "unexpected");
    expect(requests).to.equal(1);
  });

  for (const [what, after, attempts] of [
    ["zero", "0", 3],
    ["a date in the past", toDate(-60_000), 3],
    ["negative", "-1", 1],
    ["a fraction", "1.5", 1],
    ["hexadecimal", "0x0", 1],
    ["empty", "", 1],
    ["huge", "99999999999999999999999", 1],
    ["a date in an hour", toDate(3_600_000), 1],
    ["no date of a calendar", "Thu, 99 Foo 2026 99:99:99 GMT", 1],
  ] as const) {
    it(`sends a call ${attempts === 1 ? "once" : "three times"} where Retry-After is ${what}`, async () => {
      respond = (response) => void response.writeHead(503, { "retry-after": after }).end();

      await problemOf(connect().show());

      expect(requests).to.equal(attempts);
    });
  }
});
