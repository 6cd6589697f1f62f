import net from "node:net";
import { expect } from "chai";
import { z } from "zod";
import type { Context } from "../../../lib/http/request/context.js";
import { eventsOf } from "../../support/events-of.js";
import { runProgram } from "../../support/program.js";
import { Stack, type AskOptions } from "../../support/stack.js";
import { unhandledDuring } from "../../support/unhandled-during.js";
import { until } from "../../support/until.js";

const JSON_BODY = { "content-type": "application/json" };
const FORM = { "content-type": "application/x-www-form-urlencoded" };

async function answerOf(handler: (ctx: Context) => unknown, asking: AskOptions, path = "/") {
  await using stack = await Stack.of([], handler);
  return await stack.ask(path, { method: "POST", ...asking });
}

async function readJson(asking: AskOptions) {
  return answerOf(async (ctx) => ({ read: await ctx.json() }), asking);
}

async function readForm(asking: AskOptions) {
  return answerOf(async (ctx) => Object.entries(await ctx.form()), asking);
}

describe("ctx.json", () => {
  const accepted = [
    "application/json",
    "Application/JSON; charset=utf-8",
    'application/json;charset="UTF-8"',
    "application/problem+json",
    "application/vnd.api+json; profile=x",
  ];
  for (const type of accepted) {
    it(`reads ${type}`, async () => {
      const answer = await readJson({ headers: { "content-type": type }, body: '{"a":[1,"ü"]}' });

      expect(answer.text).to.equal('{"read":{"a":[1,"ü"]}}');
    });
  }

  const refused: readonly (readonly [string, AskOptions, number, string])[] = [
    ["no media type", { body: "{}" }, 415, "unsupported-media-type"],
    ["a form", { headers: FORM, body: "a=1" }, 415, "unsupported-media-type"],
    ["text/json", { headers: { "content-type": "text/json" }, body: "{}" }, 415, "unsupported-media-type"],
    [
      "application/jsonx",
      { headers: { "content-type": "application/jsonx" }, body: "{}" },
      415,
      "unsupported-media-type",
    ],
    [
      "another charset",
      { headers: { "content-type": "application/json; charset=latin1" }, body: "{}" },
      415,
      "unsupported-media-type",
    ],
    [
      "a content coding",
      { headers: { ...JSON_BODY, "content-encoding": "gzip" }, body: "{}" },
      415,
      "unsupported-media-type",
    ],
    ["an empty body", { headers: JSON_BODY, body: "" }, 400, "malformed-json"],
    ["broken JSON", { headers: JSON_BODY, body: '{"a":' }, 400, "malformed-json"],
    ["a byte order mark", { headers: JSON_BODY, body: "\ufeff{}" }, 400, "malformed-json"],
    [
      "a length over the limit",
      { headers: { ...JSON_BODY, "content-length": String(2 ** 21 + 1) }, body: "" },
      413,
      "payload-too-large",
    ],
  ];
  for (const [what, asking, status, slug] of refused) {
    it(`refuses ${what} with ${status}`, async () => {
      const answer = await readJson(asking);

      expect(answer.status).to.equal(status);
      expect(answer.text).to.contain(`urn:framework:problem:${slug}`);
    });
  }

  it("refuses bytes that are not UTF-8 with 400", async () => {
    await using stack = await Stack.of([], async (ctx) => ctx.json());

    const head =
      "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 3";
    const text = await stack.raw(`${head}\r\n\r\n"\xff"`);

    expect(text).to.match(/^HTTP\/1.1 400 /);
  });

  it("keeps a replacement character that the client sent", async () => {
    const answer = await readJson({ headers: JSON_BODY, body: '"\ufffd"' });

    expect(answer.text).to.equal('{"read":"\ufffd"}');
  });

  it("does not repeat the body in the error", async () => {
    const answer = await readJson({ headers: JSON_BODY, body: '{"secret-canary"' });

    expect(answer.text).not.to.contain("canary");
  });

  const PROTOTYPES = [
    '{"__proto__":{"admin":true}}',
    '[{"a":{"__proto__":1}}]',
    '{"\\u005f_proto__":{"admin":true}}',
    '{"constructor":{"prototype":{"admin":true}}}',
    `${"[".repeat(100_000)}{"__proto__":1}${"]".repeat(100_000)}`,
  ];
  for (const body of PROTOTYPES) {
    it(`refuses a member that means the prototype with 400: ${body.slice(0, 50)}`, async () => {
      const answer = await readJson({ headers: JSON_BODY, body });

      expect(answer.status).to.equal(400);
      expect(answer.text).to.contain("urn:framework:problem:bad-request").and.not.to.contain("admin");
    });
  }

  it("reads names like __proto__ where they do not mean the prototype", async () => {
    const body = '{"constructor":1,"prototype":{"a":"__proto__"},"b":{"constructor":{"x":1}}}';

    expect((await readJson({ headers: JSON_BODY, body })).text).to.equal(`{"read":${body}}`);
  });

  it("gives a second reader the same body", async () => {
    const answer = await answerOf(async (ctx) => [await ctx.json(), await ctx.text(), await ctx.json()], {
      headers: JSON_BODY,
      body: '{"a":1}',
    });

    expect(answer.text).to.equal('[{"a":1},"{\\"a\\":1}",{"a":1}]');
  });

  it("responds with 413 to a chunked body over the limit, and closes the connection", async () => {
    const answer = await readJson({
      headers: { ...JSON_BODY, "transfer-encoding": "chunked" },
      body: " ".repeat(2 ** 21 + 1),
    });

    expect(answer.status).to.equal(413);
    expect(answer.headers.connection).to.equal("close");
  });

  it("responds with 422, a code and a message for each field, and never the value", async () => {
    const schema = z.object({ name: z.string(), tags: z.array(z.string().max(3)) });
    const answer = await answerOf(async (ctx) => ctx.json(schema), {
      headers: JSON_BODY,
      body: '{"name":7,"tags":["ok","canary"]}',
    });

    const { errors, ...problem } = JSON.parse(answer.text) as { errors: Record<string, { code: string }[]> };

    expect(problem).to.include({ status: 422, detail: "Request validation failed" });
    expect(Object.keys(errors)).to.deep.equal(["name", "tags.1"]);
    expect(errors["tags.1"]?.[0]?.code).to.equal("too_big");
    expect(answer.text).not.to.contain("canary");
  });

  it("names the whole JSON value with an empty path", async () => {
    const answer = await answerOf(async (ctx) => ctx.json(z.string()), { headers: JSON_BODY, body: "7" });

    const { errors } = JSON.parse(answer.text) as { errors: Record<string, unknown> };
    expect(Object.keys(errors)).to.deep.equal([""]);
  });

  it("responds with 422 for fields named like members of every object", async () => {
    const schema = z.record(z.string(), z.string());
    const answer = await answerOf(async (ctx) => ctx.json(schema), {
      headers: JSON_BODY,
      body: '{"constructor":1,"toString":2}',
    });

    expect(answer.status).to.equal(422);
    expect(answer.text).to.contain('"constructor":[').and.to.contain('"toString":[');
  });
});

describe("a 415", () => {
  const READERS: readonly (readonly [string, (ctx: Context) => Promise<unknown>, AskOptions, string])[] = [
    [
      "ctx.json",
      (ctx) => ctx.json(),
      { headers: FORM },
      "came=application/x-www-form-urlencoded expected=application/json",
    ],
    ["ctx.json", (ctx) => ctx.json(), {}, "came=no header expected=application/json"],
    [
      "ctx.form",
      (ctx) => ctx.form(),
      { headers: JSON_BODY },
      "came=application/json expected=application/x-www-form-urlencoded",
    ],
    [
      "ctx.text",
      (ctx) => ctx.text(),
      { headers: { "content-type": `text/plain; charset=${"x".repeat(500)}` } },
      "came=text/plain; charset=… expected=utf-8",
    ],
    [
      "ctx.bytes",
      (ctx) => ctx.bytes(),
      { headers: { "content-encoding": "br" } },
      "came=br expected=no Content-Encoding",
    ],
  ];
  for (const [reader, read, asking, fields] of READERS) {
    it(`of ${reader} names in a DEBUG event the received and the expected type: ${JSON.stringify(asking).slice(0, 60)}`, async () => {
      const events = await eventsOf(async () => {
        expect((await answerOf(read, asking)).status).to.equal(415);
      });

      expect(events).to.include(`DEBUG framework::http::body: body refused with 415 ${fields}`);
    });
  }
});

describe("ctx.form", () => {
  it("makes a list of a repeated key, and accepts names that every object has", async () => {
    const answer = await readForm({ headers: FORM, body: "a=1&b=x+y&a=%C3%BC&toString=p&constructor=c" });

    expect(JSON.parse(answer.text)).to.deep.equal([
      ["a", ["1", "ü"]],
      ["b", "x y"],
      ["toString", "p"],
      ["constructor", "c"],
    ]);
  });

  it("reads an empty form as no fields", async () => {
    expect((await readForm({ headers: FORM, body: "" })).text).to.equal("[]");
  });

  it("reads a thousand fields and refuses one more with 413", async () => {
    const thousand = Array.from({ length: 1000 }, (_, at) => `f${at}=`).join("&");

    expect((await readForm({ headers: FORM, body: thousand })).status).to.equal(200);
    expect((await readForm({ headers: FORM, body: `${thousand}&g=` })).status).to.equal(413);
  });

  for (const body of ["a=%ff", "a=%zz", "a=%", "%c3%28=1"]) {
    it(`refuses ${body} with 400`, async () => {
      expect((await readForm({ headers: FORM, body })).status).to.equal(400);
    });
  }

  it("refuses JSON with 415", async () => {
    expect((await readForm({ headers: JSON_BODY, body: "{}" })).status).to.equal(415);
  });
});

describe("ctx.search", () => {
  it("gives the query's fields without a prototype", async () => {
    const answer = await answerOf((ctx) => Object.entries(ctx.search()), {}, "/?q=a%20b&q=c&constructor=x");

    expect(JSON.parse(answer.text)).to.deep.equal([
      ["q", ["a b", "c"]],
      ["constructor", "x"],
    ]);
  });

  it("returns the typed output of a schema", async () => {
    const schema = z.object({ page: z.coerce.number().int() });

    const fine = await answerOf(async (ctx) => (await ctx.search(schema)).page + 1, {}, "/?page=41");
    const wrong = await answerOf(async (ctx) => ctx.search(schema), {}, "/?page=x");

    expect(fine.text).to.equal("42");
    expect(wrong.status).to.equal(422);
  });
});

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const LIMIT = 2 ** 21;

/** What is wrong with a request, and how a handler reads it. */
const UNREADABLE: readonly (readonly [string, (ctx: Context) => Promise<unknown>, AskOptions, number])[] = [
  ["malformed JSON", (ctx) => ctx.json(), { headers: JSON_BODY, body: "{" }, 400],
  ["JSON without its type", (ctx) => ctx.json(), { body: "{}" }, 415],
  ["JSON that a schema refuses", (ctx) => ctx.json(z.string()), { headers: JSON_BODY, body: "7" }, 422],
  ["a form that is badly encoded", (ctx) => ctx.form(), { headers: FORM, body: "a=%" }, 400],
  ["text in another charset", (ctx) => ctx.text(), { headers: { "content-type": "text/plain; charset=x" } }, 415],
  ["a body that is announced too long", (ctx) => ctx.text(), { headers: { "content-length": LIMIT + 1 } }, 413],
  ["a query that a schema refuses", (ctx) => ctx.search(z.object({ a: z.string() })), {}, 422],
];

/** Awaits a reader long after it has failed: the body arrives with the head, or is not awaited. */
function readingLate(read: (ctx: Context) => Promise<unknown>) {
  return async (ctx: Context) => {
    const reading = read(ctx);
    for (let turns = 0; turns < 20; turns++) await turn();
    return await reading;
  };
}

describe("a promise of a reader that is awaited late", () => {
  for (const [what, read, asking, status] of UNREADABLE) {
    it(`rejects for ${what}, and never before it is awaited`, async () => {
      let answer: { readonly status: number } | undefined;

      const unhandled = await unhandledDuring(async () => (answer = await answerOf(readingLate(read), asking)));

      expect(answer?.status).to.equal(status);
      expect(unhandled).to.deep.equal([]);
    });
  }

  it("rejects for a body that grows too long, and never before it is awaited", async () => {
    const late = async (ctx: Context) => {
      let size = 0;
      ctx.req.on("data", (chunk: Buffer) => (size += chunk.length));
      const reading = ctx.text();
      await until(() => size > LIMIT);
      await turn();
      return await reading;
    };
    const asking = { headers: { "transfer-encoding": "chunked" }, body: " ".repeat(LIMIT + 1) };
    let answer: { readonly status: number } | undefined;

    const unhandled = await unhandledDuring(async () => (answer = await answerOf(late, asking)));

    expect(answer?.status).to.equal(413);
    expect(unhandled).to.deep.equal([]);
  });

  it("rejects for a client that leaves, and never before it is awaited", async () => {
    let state = "new";
    let failure: unknown;
    const late = async (ctx: Context) => {
      const reading = ctx.text();
      state = "reading";
      await until(() => ctx.signal.aborted);
      await turn();
      failure = await reading.catch((error: unknown) => error);
      state = "over";
    };
    await using stack = await Stack.of([], late);

    const unhandled = await unhandledDuring(async () => {
      const socket = net.connect(stack.port, "127.0.0.1");
      socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na");
      await until(() => state === "reading");
      socket.destroy();
      await until(() => state === "over");
    });

    expect(failure).to.have.property("code", "E_CLIENT_GONE");
    expect(unhandled).to.deep.equal([]);
  });
});

describe("a body that comes one byte at a time", () => {
  it("is read whole, in memory of the size of the body", async function () {
    this.slow(10_000);
    const { stdout, stderr } = await runProgram(
      `
      const [net, http] = [await import("node:net"), await import("node:http")];
      const { text } = await import("node:stream/consumers");
      const { Application, Route, Routes } = await load("entries/main.js");
      const alphabet = "abcdefghijklmnopqrstuvwxyz";
      const letters = alphabet.repeat(15_000);
      const routes = new Routes([Route.post("/", async (ctx) => String((await ctx.text()) === letters))]);
      const server = http.createServer(Application.create().routes(routes).build().callback());
      await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
      const socket = net.connect(server.address().port, "127.0.0.1");
      socket.write("POST / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n");
      socket.write(alphabet.replaceAll(/./g, "1\\r\\n$&\\r\\n").repeat(15_000) + "0\\r\\n\\r\\n");
      console.log((await text(socket)).split("\\r\\n\\r\\n")[1]);
      server.close();
      `,
      { NODE_OPTIONS: "--max-old-space-size=40" },
    );

    expect([stdout, stderr]).to.deep.equal(["true\n", ""]);
  });
});

function lengthRead(body: string) {
  return answerOf(async (ctx) => (await ctx.bytes()).length, { body });
}

describe("ctx.bytes", () => {
  const SIGNED = Buffer.from([0x7b, 0xff, 0x00, 0x0d, 0x0a, 0x7d]);

  /** Sends bytes that are neither UTF-8 nor of a known media type. */
  async function answerTo(handler: (ctx: Context) => unknown): Promise<string> {
    await using stack = await Stack.of([], handler);
    const response = await fetch(stack.url, { method: "POST", body: SIGNED });
    return await response.text();
  }

  it("gives the bytes of a body of any media type", async () => {
    const text = await answerTo(async (ctx) => (await ctx.bytes()).toString("hex"));

    expect(text).to.equal(SIGNED.toString("hex"));
  });

  it("gives every reader the same bytes, also after one has changed its own", async () => {
    const answer = await answerOf(
      async (ctx) => {
        const first = await ctx.bytes();
        const before = String(first);
        first.fill(0);
        return [before, String(await ctx.bytes()), await ctx.json()];
      },
      { headers: JSON_BODY, body: '{"a":1}' },
    );

    expect(answer.text).to.equal('["{\\"a\\":1}","{\\"a\\":1}",{"a":1}]');
  });

  it("obeys the body limit of the other readers", async () => {
    expect((await lengthRead("x".repeat(2 ** 21))).text).to.equal(String(2 ** 21));
    expect((await lengthRead("x".repeat(2 ** 21 + 1))).status).to.equal(413);
  });

  it("may fail before the handler awaits it, without an unhandled rejection", async () => {
    const unhandled = await unhandledDuring(async () => {
      await answerOf(
        async (ctx) => {
          const reading = ctx.bytes();
          await new Promise(setImmediate);
          return await reading;
        },
        { body: "x".repeat(2 ** 21 + 1) },
      );
    });

    expect(unhandled).to.deep.equal([]);
  });
});
