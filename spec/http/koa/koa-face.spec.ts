import { PassThrough, Readable } from "node:stream";
import { expect } from "chai";
import type { Context } from "../../../lib/http/request/context.js";
import { Layer, type Run } from "../../../lib/http/middleware.js";
import { Reply } from "../../../lib/http/response/reply.js";
import { context } from "../../../lib/testing/context.js";
import { Stack } from "../../support/stack.js";

/** A stage that promises a header on every response. */
class Promising extends Layer {
  override wrap(inner: Run): Run {
    return (ctx) => {
      ctx.completeHeadWith({ complete: (_exchange, head) => head.addMissing(["X-Promised", "yes"]) });
      return inner(ctx);
    };
  }
}

const WAYS: readonly (readonly [string, (ctx: Context) => unknown])[] = [
  ["a returned text", () => "text"],
  ["ctx.body", (ctx) => void (ctx.body = "text")],
  ["ctx.response.body", (ctx) => void (ctx.response.body = "text")],
  ["ctx.res.end", (ctx) => void ctx.res.end("text")],
  ["ctx.res.writeHead with an object", (ctx) => void ctx.res.writeHead(200, { "x-a": "1" }).end("text")],
  ["ctx.res.writeHead with a list", (ctx) => void ctx.res.writeHead(200, ["x-a", "1"]).end("text")],
  ["ctx.res.writeHead with a reason", (ctx) => void ctx.res.writeHead(200, "Fine", { "x-a": "1" }).end("text")],
  ["ctx.response.res.end", (ctx) => void ctx.response.res.end("text")],
  [
    "ctx.flushHeaders",
    (ctx) => {
      ctx.flushHeaders();
      ctx.res.end("text");
    },
  ],
  [
    "ctx.respond = false",
    (ctx) => {
      ctx.respond = false;
      setTimeout(() => ctx.res.end("text"), 5);
    },
  ],
  ["ctx.flushHeaders and ctx.body", (ctx) => (ctx.flushHeaders(), void (ctx.body = "text"))],
  ["ctx.flushHeaders and a returned text", (ctx) => (ctx.flushHeaders(), "text")],
  ["ctx.res.writeHead and a stream", (ctx) => (ctx.res.writeHead(200), Readable.from(["te", "xt"]))],
  ["ctx.res.write and ctx.body", (ctx) => (ctx.res.write("te"), void (ctx.body = "xt"))],
  ["a stream piped into ctx.res and returned", (ctx) => Readable.from(["te", "xt"]).pipe(ctx.res)],
];

describe("a header promised on every response", () => {
  for (const [what, handler] of WAYS) {
    it(`is on a response by ${what}`, async () => {
      await using stack = await Stack.of([new Promising()], handler);

      const answer = await stack.ask();

      expect(answer.headers["x-promised"]).to.equal("yes");
      expect(answer.text).to.equal("text");
    });
  }
});

async function replace(ctx: Context, next: () => Promise<void>): Promise<void> {
  await next();
  ctx.body = `${String(ctx.body)}, and more`;
}

const AFTER_THE_HEAD: readonly (readonly [string, () => unknown, string])[] = [
  ["text", () => "text", "text"],
  ["bytes", () => Buffer.from("bytes"), "bytes"],
  ["a stream", () => Readable.from(["one ", "two"]), "one two"],
  ["a web stream", () => new Blob(["web"]).stream(), "web"],
  ["a Blob", () => new Blob(["blob"]), "blob"],
  ["a fetch Response", () => new Response("fetched", { status: 201, headers: { "x-late": "1" } }), "fetched"],
  ["a fetch Response without a body", () => new Response(null), ""],
  ["an object", () => ({ a: 1 }), '{"a":1}'],
  ["null", () => null, ""],
];

/** Sends the head, then the result of `rest`. */
function headFirst(rest: (ctx: Context) => unknown) {
  return Stack.of([], (ctx) => {
    ctx.status = 202;
    ctx.type = "text/event-stream";
    ctx.flushHeaders();
    return rest(ctx);
  });
}

describe("a head written by hand", () => {
  for (const [what, body, text] of AFTER_THE_HEAD) {
    it(`is followed by ${what} of ctx.body, and the response ends`, async () => {
      await using stack = await headFirst((ctx) => void (ctx.body = body()));

      const answer = await stack.ask();

      expect([answer.status, answer.headers["content-type"], answer.text]).to.deep.equal([
        202,
        "text/event-stream; charset=utf-8",
        text,
      ]);
    });
  }

  for (const [what, reply, text] of [
    ["with a body", Reply.html("<p>").header("X-Late", "1"), "<p>"],
    ["without one", Reply.noContent(), ""],
  ] as const) {
    it(`is followed by the body of a reply ${what}, and does not change`, async () => {
      await using stack = await headFirst(() => reply);

      const answer = await stack.ask();

      expect([answer.status, answer.headers["x-late"], answer.text]).to.deep.equal([202, undefined, text]);
    });
  }

  it("is followed by the chunks of a slow stream, one by one", async () => {
    const events = new PassThrough();
    await using stack = await headFirst(() => events);
    const response = await fetch(stack.url);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();

    events.write("data: 1\n\n");
    const first = await reader?.read();
    events.end("data: 2\n\n");
    const second = await reader?.read();
    const end = await reader?.read();

    expect([first?.value, second?.value, end?.done]).to.deep.equal(["data: 1\n\n", "data: 2\n\n", true]);
  });

  it("is the whole response to HEAD; a stream after it is closed", async () => {
    const stream = new PassThrough();
    await using stack = await headFirst(() => stream);

    const answer = await stack.ask("/", { method: "HEAD" });

    expect([answer.status, answer.text, stream.destroyed]).to.deep.equal([202, "", true]);
  });

  it("is not followed by a regular end if the handler fails; a stream after it is closed", async () => {
    const stream = new PassThrough();
    await using stack = await headFirst((ctx) => {
      ctx.body = stream;
      throw new Error("disk on fire");
    });

    const failure = await stack.ask().catch((error: unknown) => error);

    expect(failure).to.include({ code: "ECONNRESET" });
    expect(stream.destroyed).to.equal(true);
  });

  it("leaves the end to the application if nothing is returned", async () => {
    await using stack = await headFirst((ctx) => void setImmediate(() => ctx.res.end("by hand")));

    expect((await stack.ask()).text).to.equal("by hand");
  });

  it("leaves the end to the application if the handler returns the result of Node's `write`", async () => {
    await using stack = await headFirst((ctx) => {
      setImmediate(() => ctx.res.end(" hand"));
      return ctx.res.write("by");
    });

    expect((await stack.ask()).text).to.equal("by hand");
  });
});

const REPLACEMENTS: readonly (readonly [string, () => unknown])[] = [
  ["a text", () => "new"],
  ["bytes", () => Buffer.from("new")],
  ["a stream", () => Readable.from(["new"])],
  ["a fetch Response without a type", () => new Response(Buffer.from("new"))],
];

function putting(body: () => unknown) {
  return async (ctx: Context, next: () => Promise<void>): Promise<void> => {
    await next();
    ctx.body = body();
  };
}

/** Reads Koa's response, as a middleware that logs does. */
async function looking(ctx: Context, next: () => Promise<void>): Promise<void> {
  expect(ctx.response.type).to.equal("");
  await next();
}

async function removing(ctx: Context, next: () => Promise<void>): Promise<void> {
  await next();
  if (ctx.path === "/type") ctx.remove("Content-Type");
  else ctx.body = null;
  ctx.status = 200;
  ctx.body = "new";
}

describe("Koa's accessors", () => {
  it("show type and length of a body that the handler returned", async () => {
    const seen: unknown[] = [];
    const look = async (ctx: Context, next: () => Promise<void>) => {
      await next();
      seen.push(ctx.type, ctx.length, ctx.response.get("content-type"), ctx.response.headers["content-length"]);
    };
    await using stack = await Stack.of([{ handle: look }], (ctx) => ctx.set("X-A", "1") ?? "héllo");
    await stack.ask();

    expect(seen).to.deep.equal(["text/plain", 6, "text/plain; charset=utf-8", 6]);
  });

  it("let an outer middleware replace the body, with the length of the new one", async () => {
    await using stack = await Stack.of([{ handle: replace }], () => "text");

    const answer = await stack.ask();

    expect(answer.text).to.equal("text, and more");
    expect(answer.headers["content-length"]).to.equal("14");
  });

  for (const [before, type] of [
    [Reply.html("<p>"), "text/html; charset=utf-8"],
    [{ a: 1 }, "application/json"],
    ["text", "text/plain; charset=utf-8"],
    [new Blob(["a{}"], { type: "text/css" }), "text/css"],
  ] as const) {
    for (const [what, put] of REPLACEMENTS) {
      it(`retain ${type} for ${what} that an outer middleware sets instead of the body`, async () => {
        const around = { handle: putting(put) };
        await using plain = await Stack.of([around], () => before);
        await using looked = await Stack.of([{ handle: looking }, around], () => before);

        const answers = [await plain.ask(), await looked.ask()];

        expect(answers.map(({ headers }) => headers["content-type"])).to.deep.equal([type, type]);
        expect(answers.map(({ text }) => text)).to.deep.equal(["new", "new"]);
      });
    }

    it(`give JSON that replaces ${type} the type of JSON`, async () => {
      const around = { handle: putting(() => ({ b: 2 })) };
      await using plain = await Stack.of([around], () => before);
      await using looked = await Stack.of([{ handle: looking }, around], () => before);

      const answers = [await plain.ask(), await looked.ask()];

      expect(answers.map(({ headers }) => headers["content-type"])).to.deep.equal([
        "application/json",
        "application/json",
      ]);
      expect(answers.map(({ text }) => text)).to.deep.equal(['{"b":2}', '{"b":2}']);
    });
  }

  it("have no inferred type after the type or the body is removed", async () => {
    await using stack = await Stack.of([{ handle: removing }], () => Reply.html("<p>"));

    const answers = [await stack.ask("/type"), await stack.ask("/body")];

    for (const { headers } of answers) expect(headers["content-type"]).to.equal("text/plain; charset=utf-8");
  });

  it("send every kind of bytes as bytes", async () => {
    await using stack = await Stack.of([], (ctx) => void (ctx.body = new Uint8Array([97]).buffer));

    const answer = await stack.ask();

    expect([answer.headers["content-type"], answer.text]).to.deep.equal(["application/octet-stream", "a"]);
  });

  it("describe the request to a middleware of Koa", async () => {
    await using stack = await Stack.of([], (ctx) => ({
      query: ctx.query,
      host: ctx.host,
      accepts: ctx.accepts("json", "html"),
      header: ctx.get("X-Thing"),
      is: ctx.is("json"),
      fresh: ctx.fresh,
      href: ctx.href,
      referrer: ctx.get("Referrer"),
    }));

    const answer = await stack.ask("/a?x=1", {
      headers: { "x-thing": "t", accept: "text/html", referer: "/r", host: "h" },
    });

    expect(JSON.parse(answer.text)).to.deep.equal({
      query: { x: "1" },
      host: "h",
      accepts: "html",
      header: "t",
      is: null,
      fresh: false,
      href: "http://h/a?x=1",
      referrer: "/r",
    });
  });

  it("redirect, attach and set cookies, secure ones too", async () => {
    await using redirecting = await Stack.of([], (ctx) => ctx.redirect("https://example.com/ü"));
    await using other = await Stack.of([], (ctx) => {
      ctx.attachment("a.csv");
      ctx.cookies.set("id", "1", { secure: true });
      ctx.vary("Accept");
      ctx.append("Link", "<a>");
      ctx.append("Link", "<b>");
      return "a,b";
    });

    const away = await redirecting.ask();
    const answer = await other.ask();

    expect([away.status, away.headers.location]).to.deep.equal([302, "https://example.com/%C3%BC"]);
    expect(answer.headers["content-type"]).to.equal("text/csv; charset=utf-8");
    expect(answer.headers["content-disposition"]).to.equal('attachment; filename="a.csv"');
    expect(answer.headers["set-cookie"]?.[0]).to.match(/^id=1; path=\/; secure; httponly$/);
    expect(answer.headers.vary).to.equal("Accept");
    expect(answer.headers["link"]).to.equal("<a>, <b>");
  });
});

/** A query with so many fields. */
const queryOf = (count: number) => `?${"a&".repeat(count - 1)}a`;

describe("the query", () => {
  const faces: readonly (readonly [string, (ctx: Context) => object])[] = [
    ["ctx.query", (ctx) => ctx.query],
    ["ctx.request.query", (ctx) => ctx.request.query],
    ["ctx.search", (ctx) => ctx.search()],
  ];
  for (const [face, read] of faces) {
    it(`has a thousand fields at most in ${face}, and one more is a 413`, async () => {
      await using stack = await Stack.of([], (ctx) => read(ctx));

      const [most, more] = [await stack.ask(`/${queryOf(1000)}`), await stack.ask(`/${queryOf(1001)}`)];

      expect([most.status, JSON.parse(most.text)]).to.deep.equal([200, { a: Array.from({ length: 1000 }, () => "") }]);
      expect(more.status).to.equal(413);
    });
  }

  it("is an ordinary object of texts and lists, also for a field named constructor, and without __proto__", () => {
    const { query } = context({ url: "/?a=1&b=%C3%BC+c&a=2&__proto__=p&constructor=c" });

    expect(Object.entries(query)).to.deep.equal([
      ["a", ["1", "2"]],
      ["b", "ü c"],
      ["constructor", "c"],
    ]);
    expect(Object.getPrototypeOf(query)).to.equal(Object.prototype);
  });

  it("retains the fields that a middleware writes into it, until the target changes", () => {
    const ctx = context({ url: "/a?page=1" });

    ctx.query["page"] = "2";
    ctx.path = "/b";
    const written = { ...ctx.request.query };
    ctx.url = "/b?size=3";

    expect(written).to.deep.equal({ page: "2" });
    expect(ctx.query).to.deep.equal({ size: "3" });
  });

  const assignments: readonly (readonly [string, (ctx: Context) => unknown, string])[] = [
    ["an object", (ctx) => (ctx.query = { a: ["1", "2"], b: "ü" }), "/x?a=1&a=2&b=%C3%BC"],
    ["an empty object", (ctx) => (ctx.query = {}), "/x"],
    ["a text", (ctx) => (ctx.querystring = "a=1#2"), "/x?a=1%232"],
    ["a text with its question mark", (ctx) => (ctx.request.search = "?a=1"), "/x?a=1"],
  ];
  for (const [what, assign, url] of assignments) {
    it(`may be assigned as ${what}`, () => {
      const ctx = context({ url: "/x?old=1" });

      assign(ctx);

      expect([ctx.url, ctx.originalUrl]).to.deep.equal([url, "/x?old=1"]);
    });
  }

  for (const target of ["/x?a=1", "http://h/x?a=1", "http://[/x?a=1", "http://h:b/x?a=1", "/x?a=1#?"]) {
    it(`is read from ${target}`, () => {
      const ctx = context({ url: target });

      expect([ctx.querystring, ctx.request.search, ctx.query]).to.deep.equal(["a=1", "?a=1", { a: "1" }]);
    });
  }
});

describe("a preference of a client", () => {
  const asked: readonly (readonly [string, (ctx: Context) => unknown, kept: string, other: string])[] = [
    ["accept", (ctx) => ctx.accepts("json", "html"), "text/html", "json"],
    ["accept-charset", (ctx) => ctx.acceptsCharsets("utf-8", "ascii"), "ascii", "utf-8"],
    ["accept-encoding", (ctx) => ctx.acceptsEncodings("identity", "gzip"), "gzip", "identity"],
    ["accept-language", (ctx) => ctx.acceptsLanguages("en", "de"), "de", "en"],
  ];
  for (const [name, ask, preferred, first] of asked) {
    it(`in ${name} is read up to 1024 characters, and a longer header is ignored`, () => {
      const [most, more] = [1024, 1025].map((length) =>
        context({ headers: { [name]: preferred.padEnd(length, ",") } }),
      );

      expect(most && ask(most)).to.equal(preferred.replace("text/", ""));
      expect(more && ask(more)).to.equal(first);
    });
  }
});

describe("ctx.back", () => {
  for (const [referrer, location] of [
    ["http://localhost/a", "http://localhost/a"],
    ["http://elsewhere/a", "/b"],
    ["http://[", "/b"],
    ["//:x", "/b"],
    ["/a", "/a"],
  ] as const) {
    it(`leads from ${referrer} to ${location}`, () => {
      const ctx = context({ headers: { referer: referrer } });

      ctx.back("/b");

      expect(ctx.response.get("Location")).to.equal(location);
    });
  }

  it("leads to the root if neither the client nor the application gives a target", () => {
    const ctx = context({ headers: { host: "[" } });

    ctx.back();

    expect(ctx.response.get("Location")).to.equal("/");
  });
});
