/** One program on two hosts: bare Koa, and an application of the framework. A program knows only the members of this class. */
import { once } from "node:events";
import { createServer } from "node:http";
import Koa from "koa";
import { Application, Route, Routes } from "../../../dist/lib/entries/main.js";
import { testApp } from "../../../dist/lib/entries/testing.js";
import { ask } from "./ask.mjs";

class Host {
  /** What the client saw, and what the program recorded, by name. */
  seen = {};
  cookies = new Map();
  stops = [];

  /** The last middleware: it responds to every path to which no earlier middleware has responded. */
  handle(handler) {
    this.handler = handler;
  }

  /** To the server before it listens, as socket.io needs it. */
  attach(attachment) {
    this.attachment = attachment;
  }

  note(name, value) {
    this.seen[name] = value;
  }

  /** Sends a request, and records the response under the request's line. */
  async ask(method, path, options = {}) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...(cookie !== "" && { cookie }), ...options.headers };
    const { response, cookies } = await ask(this.url + path, { ...options, method, headers });
    for (const [, name, value] of cookies.map((line) => /^([^=]+)=([^;]*)/.exec(line))) this.cookies.set(name, value);
    this.note(options.as ?? `${method} ${path}`, response);
    return response;
  }

  get(path, options) {
    return this.ask("GET", path, options);
  }

  /** Serves a listener that holds `callback()`, in place of the host's own server. */
  async serve(listener) {
    const server = createServer(listener);
    await this.listen(server);
  }

  async listen(server) {
    this.url = await this.listening(server);
  }

  /** Another server of the program. Resolves to its URL. */
  async listening(server) {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    this.stops.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${server.address().port}`;
  }

  async stop() {
    for (const stop of this.stops.toReversed()) await stop();
  }
}

export class KoaHost extends Host {
  name = "koa";
  /** A module that resolves `koa` to the copy of this host. */
  module = import.meta.url;
  koa = Object.assign(new Koa(), { silent: true });

  use(...middleware) {
    for (const each of middleware) this.koa.use(each);
  }

  callback() {
    if (this.handler !== undefined) this.koa.use(this.handler);
    return this.koa.callback();
  }

  async start() {
    const callback = this.callback();
    const server = createServer((request, response) => void callback(request, response));
    this.attachment?.(server);
    await this.listen(server);
  }
}

export class FrameworkHost extends Host {
  name = "framework";
  module = new URL("../../../dist/lib/entries/main.js", import.meta.url);
  builder = Application.create();
  koa = this.builder.koa;

  use(...middleware) {
    this.builder.layer(...middleware);
  }

  built() {
    const { handler } = this;
    if (handler !== undefined) {
      const paths = ["/", "/{*rest}"];
      this.builder.routes(new Routes(paths.map((path) => Route.any(path, handler))));
    }
    return this.builder;
  }

  callback() {
    return this.built().build().callback();
  }

  async start() {
    if (this.attachment !== undefined) this.builder.attach(this.attachment);
    const app = await testApp(this.built());
    this.url = app.url;
    this.stops.push(() => app.stop().catch(() => {}));
  }
}
