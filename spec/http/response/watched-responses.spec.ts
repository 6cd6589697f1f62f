/** Responses with observers elsewhere in the process. They read the response and listen to the request when the response is sent. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import { PerformanceObserver } from "node:perf_hooks";
import { Application, Route, Routes } from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { expect } from "chai";
import { Gate } from "../../support/gate.js";
import { listening } from "../../support/listening.js";

const HEADERS = {
  "content-type": "text/plain; charset=utf-8",
  "content-length": "5",
  "x-content-type-options": "nosniff",
};
/** The headers of a response, as code in the process sees them: Koa sets the length as a number. */
const OBSERVED = { ...HEADERS, "content-length": 5 };

const application = () =>
  Application.create()
    .securityHeaders()
    .routes(new Routes([Route.get("/", () => "hello")]));

/** The parts of a message of the channels of `node:http` that are read here. */
interface Message {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Subscribes to a channel of `node:http` until the end of the test. */
function subscription(channel: string, listener: (message: Message) => void): Disposable {
  // The messages of these channels, by Node's documentation.
  const received = (message: unknown): void => listener(message as Message);
  subscribe(channel, received);
  return { [Symbol.dispose]: () => void unsubscribe(channel, received) };
}

/** Observes the entries of `node:perf_hooks` about responses of servers until the end of the test. */
class Entries implements Disposable {
  readonly first: Promise<unknown>;
  private observer: PerformanceObserver | undefined;

  constructor() {
    this.first = new Promise((resolve) => {
      this.observer = new PerformanceObserver((list) => {
        for (const entry of list.getEntriesByName("HttpRequest")) if ("detail" in entry) resolve(entry.detail);
      });
      this.observer.observe({ entryTypes: ["http"] });
    });
  }

  [Symbol.dispose](): void {
    this.observer?.disconnect();
  }
}

/** Handles one request behind `prepare`, over `callback()`. */
async function ask(prepare: (response: ServerResponse) => void): Promise<Response> {
  const callback = application().build().callback();
  const server = http.createServer((request, response) => {
    prepare(response);
    callback(request, response);
  });
  using own = await listening(server);
  const response = await fetch(own.url);
  expect(await response.text()).to.equal("hello");
  return response;
}

describe("a response on a server of the framework", () => {
  it("shows its headers to a subscriber of `http.server.response.finish`", async () => {
    await using app = await testApp(application());
    const seen: unknown[] = [];
    using _subscription = subscription("http.server.response.finish", ({ response }) =>
      seen.push(response.getHeaders(), response.getHeaderNames(), response.getHeader("Content-Length")),
    );

    await app.get("/");

    const [headers, names, length] = seen;
    expect(headers).to.include(OBSERVED);
    expect(names).to.include.members(Object.keys(HEADERS));
    expect(length).to.equal(5);
  });

  it("shows its headers to a listener for `finish`", async () => {
    await using app = await testApp(application());
    const seen: unknown[] = [];
    using _subscription = subscription("http.server.request.start", ({ response }) => {
      const names = ["X-Content-Type-Options", "X-None", "constructor"];
      response.on("finish", () =>
        names.forEach((name) => seen.push(response.hasHeader(name), response.getHeader(name))),
      );
    });

    await app.get("/");

    expect(seen).to.deep.equal([true, "nosniff", false, undefined, false, undefined]);
  });

  it("shows its headers to a performance observer", async () => {
    await using app = await testApp(application());
    using entries = new Entries();

    await app.get("/");

    expect(await entries.first)
      .to.have.nested.property("res.headers")
      .that.includes(OBSERVED);
  });

  it("shows a small body in no header", async () => {
    const body = "a: b\r\n\r\nX-Body: c\r\n";
    await using app = await testApp(Application.create().routes(new Routes([Route.get("/", () => body)])));
    const seen: string[][] = [];
    using _subscription = subscription("http.server.response.finish", ({ response }) =>
      seen.push(response.getHeaderNames()),
    );

    expect(await (await app.get("/")).text()).to.equal(body);

    expect(seen[0]).to.include("content-length").and.not.include("a").and.not.include("x-body");
  });

  for (const event of ["end", "close"]) {
    it(`has its request emit \`${event}\` for a listener that a subscriber adds`, async () => {
      await using app = await testApp(application());
      const emitted = new Gate();
      using _subscription = subscription(
        "http.server.response.finish",
        ({ request }) => void request.on(event, () => emitted.open()),
      );

      await app.get("/");

      await emitted.passed;
    });
  }
});

describe("a response on a server of another package", () => {
  for (const event of ["finish", "close"]) {
    it(`shows its headers to a listener for \`${event}\``, async () => {
      const seen = new Promise((resolve) => {
        void ask((response) => response.on(event, () => resolve(response.getHeaders()))).catch(resolve);
      });

      expect(await seen).to.include(OBSERVED);
    });
  }

  it("shows its headers to a subscriber of `http.server.response.finish`", async () => {
    const seen: unknown[] = [];
    using _subscription = subscription("http.server.response.finish", ({ response }) =>
      seen.push(response.getHeaders()),
    );

    await ask(() => undefined);

    expect(seen[0]).to.include(OBSERVED);
  });

  it("has all headers where only Node may write its text", async () => {
    const { headers } = await ask((response) => {
      let text: unknown = null;
      const write = (value: unknown): void => {
        const [, , caller = ""] = String(new Error().stack).split("\n");
        if (!caller.includes("node:")) throw new TypeError("_header is read-only");
        text = value;
      };
      Object.defineProperty(response, "_header", { get: () => text, set: write });
    });

    expect(Object.fromEntries(headers)).to.include(HEADERS);
  });
});
