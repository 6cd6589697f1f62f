/** Watchers of requests: loggers, traces, error trackers. Each program records what they see of a response, and how often they learn of an error. */
import { createRequire } from "node:module";
import { Writable } from "node:stream";

const HANDLER = (ctx) => {
  if (ctx.path === "/fails") throw new Error("a fault");
  ctx.set("X-Own", "yes");
  ctx.body = { is: "own" };
};

function sinkOf(lines) {
  return new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
}

const SHOWN = ["content-type", "content-length", "x-own"];

/** Waits for what is reported after the response. */
async function until(isDone) {
  for (let turn = 0; turn < 1000 && !isDone(); turn += 1) await new Promise((resolve) => setTimeout(resolve, 10));
}

function shownHeaders(headers = {}) {
  return Object.fromEntries(SHOWN.filter((name) => name in headers).map((name) => [name, String(headers[name])]));
}

/** Errors with a status are not errors of the application; an unhandled one is reported once. */
async function tellErrors(host) {
  host.handle(HANDLER);
  await host.start();
  await host.get("/");
  await host.get("/fails");
}

/** In place of the connection to Sentry: nothing is sent. */
const transport = () => ({ send: () => Promise.resolve({}), flush: () => Promise.resolve(true) });

/** What Sentry captures. */
async function captured(host, sentry, prepare) {
  const events = [];
  const beforeSend = (event) => {
    events.push(event.exception?.values?.map(({ value }) => value));
    return null;
  };
  sentry.init({ dsn: "https://key@127.0.0.1/1", transport, beforeSend });
  prepare();
  await tellErrors(host);
  await until(() => events.length > 0);
  host.note("captured", events);
}

export const WATCHERS = [
  {
    package: "pino-http",
    use: "in front of `callback()`: the logged headers",
    async run(host, module) {
      const lines = [];
      const log = (module.pinoHttp ?? module)(sinkOf(lines));
      host.handle(HANDLER);
      const callback = host.callback();
      await host.serve((request, response) => {
        log(request, response);
        callback(request, response);
      });
      await host.get("/");
      await until(() => lines.length > 0);
      const { msg, res } = JSON.parse(lines[0]);
      host.note("line", { msg, status: res.statusCode, headers: shownHeaders(res.headers) });
    },
  },
  {
    package: "koa-pino-logger",
    use: "`.layer(logger())`: the logged headers",
    async run(host, make) {
      const lines = [];
      host.use(make(sinkOf(lines)));
      host.handle((ctx) => {
        ctx.log.info("in the handler");
        HANDLER(ctx);
      });
      await host.start();
      await host.get("/");
      await until(() => lines.length > 1);
      host.note(
        "lines",
        lines
          .map((line) => JSON.parse(line))
          .map(({ msg, res }) => ({ msg, status: res?.statusCode, headers: shownHeaders(res?.headers) })),
      );
    },
  },
  {
    package: "node:perf_hooks",
    use: "headers of the entries of type `http`",
    version: "",
    async run(host) {
      const { PerformanceObserver } = await import("node:perf_hooks");
      const entries = [];
      const observer = new PerformanceObserver((list) => entries.push(...list.getEntriesByName("HttpRequest")));
      observer.observe({ entryTypes: ["http"] });
      host.handle(HANDLER);
      await host.start();
      await host.get("/");
      await until(() => entries.length > 0);
      observer.disconnect();
      const [{ detail }] = entries;
      host.note("entry", {
        method: detail.req.method,
        status: detail.res.statusCode,
        headers: shownHeaders(detail.res.headers),
      });
    },
  },
  {
    package: "node:async_hooks",
    version: "",
    use: "`.layer((ctx, next) => storage.run(value, next))`",
    async run(host) {
      const { AsyncLocalStorage } = await import("node:async_hooks");
      const storage = new AsyncLocalStorage();
      host.use((ctx, next) => storage.run(ctx.path, next));
      host.use(async (_ctx, next) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        await next();
      });
      host.handle(async (ctx) => {
        const before = storage.getStore();
        for await (const _chunk of ctx.req);
        ctx.body = { before, after: storage.getStore() };
      });
      await host.start();
      await host.get("/a");
      await host.ask("POST", "/b", { body: "x".repeat(100_000) });
    },
  },
  {
    package: "node:diagnostics_channel",
    use: "headers at `http.server.response.finish`",
    version: "",
    async run(host) {
      const { subscribe, unsubscribe } = await import("node:diagnostics_channel");
      const seen = [];
      const listener = ({ response }) =>
        seen.push({ status: response.statusCode, headers: shownHeaders(response.getHeaders()) });
      subscribe("http.server.response.finish", listener);
      host.handle(HANDLER);
      await host.start();
      await host.get("/");
      await until(() => seen.length > 0);
      unsubscribe("http.server.response.finish", listener);
      host.note("finish", seen);
    },
  },
  {
    package: "@opentelemetry/instrumentation-http",
    use: "spans with `headersToSpanAttributes`",
    alone: true,
    async run(host, _module, { HttpInstrumentation }) {
      const { SpanKind } = await import("@opentelemetry/api");
      const { NodeTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } =
        await import("@opentelemetry/sdk-trace-node");
      const exporter = new InMemorySpanExporter();
      const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
      provider.register();
      const headersToSpanAttributes = {
        server: { requestHeaders: ["x-asked"], responseHeaders: ["content-type", "content-length", "x-own"] },
      };
      const instrumentation = new HttpInstrumentation({ headersToSpanAttributes });
      instrumentation.setTracerProvider(provider);
      // The patch is applied when the module is required.
      createRequire(import.meta.url)("http");
      host.handle(HANDLER);
      await host.start();
      await host.get("/", { headers: { "x-asked": "yes" } });
      const spans = () => exporter.getFinishedSpans().filter(({ kind }) => kind === SpanKind.SERVER);
      await until(() => spans().length > 0);
      const shown = spans().map(({ attributes }) =>
        Object.fromEntries(Object.entries(attributes).filter(([name]) => /header|status_code$/.test(name))),
      );
      host.note("spans", shown);
    },
  },
  {
    package: "@opentelemetry/instrumentation-koa",
    use: "spans of `builder.koa.use(fn)` and of the routes of a @koa/router",
    alone: true,
    async run(host, _module, { KoaInstrumentation }) {
      const { context, trace } = await import("@opentelemetry/api");
      const { NodeTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } =
        await import("@opentelemetry/sdk-trace-node");
      const { default: Router } = await import("@koa/router-15");
      const exporter = new InMemorySpanExporter();
      const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
      provider.register();
      new KoaInstrumentation().setTracerProvider(provider);
      // The patch is applied when the module is required, here to the copy of the host.
      createRequire(host.module)("koa");
      const parent = provider.getTracer("parent").startSpan("request");
      host.koa.use((_ctx, next) => context.with(trace.setSpan(context.active(), parent), next));
      host.koa.use(async function counted(_ctx, next) {
        await next();
      });
      const router = new Router().get("/routed/:id", (ctx) => (ctx.body = ctx.params.id));
      host.koa.use(router.routes());
      host.handle(HANDLER);
      await host.start();
      await host.get("/routed/7");
      const spans = exporter.getFinishedSpans().map(({ name, attributes }) => ({ name, attributes }));
      host.note("spans", spans);
    },
  },
  {
    package: "@sentry/node",
    use: '`builder.koa.on("error", Sentry.captureException)`',
    alone: true,
    run: (host, _module, sentry) =>
      captured(host, sentry, () => host.koa.on("error", (error) => sentry.captureException(error))),
  },
  {
    package: "@sentry/node",
    name: "@sentry/node setupKoaErrorHandler",
    use: "`Sentry.setupKoaErrorHandler(builder.koa)`",
    alone: true,
    run: (host, _module, sentry) => captured(host, sentry, () => sentry.setupKoaErrorHandler(host.koa)),
  },
  {
    package: "elastic-apm-node",
    use: '`builder.koa.on("error", (error) => apm.captureError(error))`',
    alone: true,
    async run(host, apm) {
      const errors = [];
      apm.start({
        serviceName: "neighbours",
        disableSend: true,
        logLevel: "off",
        centralConfig: false,
        metricsInterval: "0s",
      });
      host.koa.on("error", (error) => {
        errors.push(error.message);
        apm.captureError(error);
      });
      await tellErrors(host);
      host.note("errors", errors);
    },
  },
];
