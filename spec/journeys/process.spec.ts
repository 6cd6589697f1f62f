/** The application as a process: its start, its output and its end, with real processes and real signals. */
import { once } from "node:events";
import net from "node:net";
import { expect } from "chai";
import { Child } from "../support/child.js";
import { freePort } from "../support/free-port.js";
import { Conversation } from "../support/conversation.js";
import { listening } from "../support/listening.js";
import { ended, runProgram, startProgram } from "../support/program.js";
import { until } from "../support/until.js";

const APPLICATION = "../journeys/process-application.js";

async function started(environment: NodeJS.ProcessEnv = {}): Promise<Child> {
  const child = await Child.start(APPLICATION, environment);
  await child.says("listening on", "errors");
  return child;
}

describe("the process", function () {
  this.timeout(120_000);
  this.slow(3000);

  describe("from its start to its end", () => {
    let child: Child;

    before(async () => {
      child = await Child.start(APPLICATION, { START: "held" });
    });
    after(() => child?.[Symbol.asyncDispose]());

    it("reports itself live while it boots, and refuses all other requests with 503", async () => {
      await child.says("database starting");

      const live = await fetch(`${child.url}/up/live`);
      const ready = await fetch(`${child.url}/up/ready`);
      const work = await fetch(`${child.url}/quick`);

      expect([live.status, await live.json()]).to.deep.equal([200, { state: "booting" }]);
      expect([ready.status, await ready.json()]).to.deep.equal([503, { state: "booting", ready: false }]);
      expect(work.status).to.equal(503);
      expect(work.headers.get("retry-after")).to.equal("1");
      expect(work.headers.get("content-type")).to.equal("application/problem+json");
    });

    it("prints one line with its address, and starts subsystems in their order", async () => {
      child.endInput();
      await child.says("listening on", "errors");

      expect(child.errors).to.equal(`app listening on ${child.url} (http://localhost:${child.port})\n`);
      expect(child.output).to.match(/database starting\n[^]*mail starting\n/);
      expect((await fetch(`${child.url}/quick`)).status).to.equal(200);
    });

    it("prints an unhandled error with its stack on standard error, where no log is installed, and goes on", async () => {
      const responses = [
        await fetch(`${child.url}/panic`),
        await fetch(`${child.url}/odd`),
        await fetch(`${child.url}/quick`),
      ];
      const broken = await fetch(`${child.url}/broken`)
        .then((response) => response.text())
        .catch(() => "cut");

      expect(responses.map(({ status }) => status)).to.deep.equal([500, 500, 200]);
      expect(await responses[0]?.text()).not.to.contain("of the handler");
      expect(broken).to.equal("cut");
      // The last of them, and so the others too.
      await child.says("response failed in ", "errors");
      expect(child.errors).to.match(/^panic in GET \/panic: TypeError: of the handler\n\s+at .*WorkController\.panic/m);
      expect(child.errors).to.match(/^panic in GET \/odd: a value that cannot be read$/m);
      expect(child.errors).to.match(/^response failed in GET \/broken: TypeError: after the first byte\n\s+at /m);
    });

    it("finishes requests in flight, and closes idle connections at once", async () => {
      await using idle = await Conversation.with(child.port);
      await idle.say("GET /quick HTTP/1.1\r\nHost: x\r\n\r\n").hear(/done$/);
      const slow = fetch(`${child.url}/slow/700`);
      await child.says("slow begun");

      child.kill("SIGTERM");
      await idle.end();
      const response = await slow;

      expect([response.status, await response.text()]).to.deep.equal([200, "done slowly"]);
      expect(await child.exitCode()).to.equal(0);
    });
  });

  it("prints its URL without trailing slashes", async () => {
    const child = startProgram(`
      const { AppConfig, Application } = await load("entries/main.js");
      const config = new AppConfig({ name: "shop", url: "https://shop.example//" });
      await Application.create().config(config).port(0).lifecycle({ drainDelayMs: 0 }).build().run();
    `);
    const end = ended(child);

    const [line] = await once(child.stderr.setEncoding("utf8"), "data");
    child.kill();

    expect(line).to.match(/^shop listening on http:\/\/127\.0\.0\.1:\d+ \(https:\/\/shop\.example\)\n$/);
    expect(await end).to.deep.equal({ code: 0, signal: null });
  });

  it("ends with one clear line and exit code 1 where the port is in use", async () => {
    using taken = await listening(net.createServer());
    const { port } = taken;

    await using child = await Child.start(APPLICATION, {}, { port });
    const code = await child.exitCode();

    expect(code).to.equal(1);
    const line = `cannot listen on 127.0.0.1:${port}: the address is in use; stop the other process or choose another port\n`;
    expect(child.errors).to.equal(line);
    expect(child.output).not.to.contain("database starting");
  });

  it("ends with every fault and exit code 1 where the configuration is wrong", async () => {
    await using child = await Child.start(APPLICATION, { PREFIX: "up/" });
    const code = await child.exitCode();

    expect(code).to.equal(1);
    expect(child.errors).to.contain("E_HEALTH_PREFIX").and.to.contain("fix:");
    expect(child.errors).not.to.match(/\n\s+at .*\.js:/);
  });

  it("stops the started subsystems where a later start fails, and exits with 1", async () => {
    await using child = await Child.start(APPLICATION, { START_FAILS: "yes" });
    const code = await child.exitCode();

    expect(code).to.equal(1);
    expect(child.errors).to.contain("database failed to start: no such host");
    expect(child.output).not.to.contain("mail starting");
  });

  it("reports itself not ready with 503 before the listener stops, and still serves requests", async () => {
    await using child = await started({ DELAY: "held" });

    child.kill("SIGTERM");
    await until(async () => (await fetch(`${child.url}/up/ready`)).status === 503);
    const responses = [await fetch(`${child.url}/up/live`), await fetch(`${child.url}/quick`)];
    child.endInput();

    expect(responses.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(responses[1]?.headers.get("connection")).to.equal("close");
    expect(await child.exitCode()).to.equal(0);
    expect(child.output).to.match(/mail stopped\ndatabase stopped\n[^]*ran, exit code 0\n$/);
  });

  it("aborts the remaining requests at the deadline, and gives them 503", async () => {
    await using child = await started({ DEADLINE_MS: "300" });
    const endless = fetch(`${child.url}/endless`);
    await child.says("endless begun");

    child.kill("SIGTERM");
    const response = await endless;

    expect(response.status).to.equal(503);
    expect(await child.exitCode()).to.equal(0);
    expect(child.output).to.contain("aborted E_DRAIN");
  });

  it("destroys requests that ignore their signal a second later, and exits with 1", async () => {
    await using child = await started({ DEADLINE_MS: "200" });
    const endless = fetch(`${child.url}/endless?deaf`).catch((error: unknown) => error);
    await child.says("endless begun");

    child.kill("SIGTERM");

    expect(await endless).to.be.instanceOf(Error);
    expect(await child.exitCode()).to.equal(1);
  });

  for (const [signal, code] of [
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const) {
    it(`exits at once with ${code} at a second signal, ${signal}`, async () => {
      await using child = await started({ DELAY: "held" });

      child.kill("SIGTERM");
      await until(async () => (await fetch(`${child.url}/up/ready`)).status === 503);
      // An earlier signal counts as a repetition of the first.
      await new Promise((resolve) => setTimeout(resolve, 100));
      child.kill(signal);

      expect(await child.exitCode()).to.equal(code);
    });
  }

  it("exits with 1 where a subsystem fails to stop, after it has stopped the others", async () => {
    await using child = await started({ STOP_FAILS: "yes" });

    child.kill("SIGTERM");

    expect(await child.exitCode()).to.equal(1);
    expect(child.output).to.contain("mail stopped\ndatabase stopped\n");
  });

  it("leaves an unhandled error to the log where one is installed", async () => {
    await using child = await Child.start(APPLICATION, { LOGGING: "yes" });
    await child.says("listening", "errors");

    await fetch(`${child.url}/panic`);
    await child.says("of the handler", "errors");

    expect(child.errors).to.match(
      / ERROR framework::http::last_resort: panic error="TypeError: of the handler" route="GET \/panic"\n    TypeError: of the handler\n    at /,
    );
    expect(child.errors).not.to.match(/^panic in /m);
  });

  it("prints nothing for an unhandled error under serve(), which does not own the process", async () => {
    const { stderr, stdout } = await runProgram(`
      import net from "node:net";
      const { Application, Route, Routes } = await load("entries/main.js");
      const routes = new Routes([Route.get("/", () => { throw new Error("of the handler"); })]);
      const listener = net.createServer();
      await new Promise((resolve) => listener.listen(0, "127.0.0.1", resolve));
      const running = await Application.create().routes(routes).lifecycle({ drainDelayMs: 0 }).build().serve(listener);
      console.log((await getFrom(running.url)).status);
      await running.stop();
    `);

    expect([stdout, stderr]).to.deep.equal(["500\n", ""]);
  });

  it("serves and drains where the reader of its log has closed the pipe", async () => {
    const port = await freePort();
    const child = startProgram(
      `
      const { Application, Route, Routes } = await load("entries/main.js");
      const { installLogging } = await load("entries/observe.js");
      installLogging("trace");
      const routes = new Routes([Route.get("/", () => "served")]);
      await Application.create().routes(routes).accessLog().lifecycle({ drainDelayMs: 100 }).build().run();
    `,
      { PORT: String(port) },
    );
    const end = ended(child);
    await once(child.stderr, "data");

    child.stderr.destroy();
    await once(child.stderr, "close");
    // Its first line comes before it listens.
    const url = `http://127.0.0.1:${port}`;
    const isReady = () => fetch(`${url}/up/ready`).then(({ ok }) => ok, () => false); // prettier-ignore
    await until(isReady);
    const responses = [];
    for (let count = 0; count < 20; count++) responses.push(await (await fetch(url)).text());
    child.kill();

    expect(new Set(responses)).to.deep.equal(new Set(["served"]));
    expect(await end).to.deep.equal({ code: 0, signal: null });
  });

  it("drains and exits with 1 after an uncaught failure", async () => {
    await using child = await started();

    const response = await fetch(`${child.url}/crash`);

    expect(response.status).to.equal(200);
    expect(await child.exitCode()).to.equal(1);
    expect(child.output).to.contain("database stopped");
    expect(child.errors).to.match(/uncaught failure: Error: .+\n\s+at /);
  });

  it("gives requests in flight five seconds after such a failure, for any drain deadline", async () => {
    const { code, stdout } = await runProgram(
      `
      const { Application, Clock, provide, Route, Routes } = await load("entries/main.js");
      const { FakeClock } = await load("entries/testing.js");
      const clock = new FakeClock();
      let hasEnded = false;
      const endless = async (ctx) => {
        setTimeout(() => { throw new Error("this error is not caught"); });
        await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
        console.log("aborted after", clock.monotonic());
      };
      const application = Application.create()
        .routes(new Routes([Route.get("/", endless)]))
        .provide(provide(Clock).useValue(clock))
        .lifecycle({ drainDelayMs: 60_000, drainDeadlineMs: 600_000 })
        .build();
      const running = application.run().finally(() => (hasEnded = true));
      process.once("uncaughtException", async () => {
        while (!hasEnded) await clock.advanceAsync(50);
      });
      const visit = () => getFrom("http://127.0.0.1:" + process.env.PORT).catch((error) =>
        error.code === "ECONNREFUSED" ? visit() : undefined);
      await Promise.all([running, visit()]);
    `,
      { PORT: String(await freePort()) },
    );

    expect([stdout, code]).to.deep.equal(["aborted after 5000\n", 1]);
  });

  it("completes its start where the signal comes while booting", async () => {
    await using child = await Child.start(APPLICATION, { START: "held" });
    await child.says("database starting");

    child.kill("SIGINT");
    await child.says("heard SIGINT");
    child.endInput();

    expect(await child.exitCode()).to.equal(0);
    expect(child.output).to.contain("database stopped").and.not.to.contain("mail starting");
  });

  it("ends after its drain as a cluster worker with a message listener, and messages pass until then", async () => {
    const { code, stdout } = await runProgram(`
      const { default: cluster } = await import("node:cluster");
      const { Application } = await load("entries/main.js");
      if (cluster.isPrimary) {
        cluster.setupPrimary({ exec: "worker" });
        const worker = cluster.fork();
        worker.on("exit", (code, signal) => console.log("exit", code, signal, worker.exitedAfterDisconnect));
        worker.on("message", (text) => {
          console.log(text);
          if (text === "ran") worker.send("goodbye");
        });
        setTimeout(() => worker.process.kill("SIGKILL"), 60_000).unref();
        worker.on("listening", async ({ port }) => {
          while ((await getFrom("http://127.0.0.1:" + port + "/up/ready")).status !== 200);
          worker.process.kill("SIGTERM");
        });
      } else {
        const held = setInterval(() => {}, 1000);
        process.on("message", (text) => {
          clearInterval(held);
          process.send("heard " + text);
        });
        await Application.create().port(0).lifecycle({ drainDelayMs: 0 }).build().run();
        process.send("ran");
      }
    `);

    expect([stdout, code]).to.deep.equal(["ran\nheard goodbye\nexit 0 null false\n", 0]);
  });

  it("listens on the supervisor's socket instead of TCP, and drains when its input ends", async () => {
    const path = `/tmp/stagecraft-${process.pid}-${await freePort()}/app.sock`;
    await using child = await started({ FRAMEWORK_APP_IPC: path });

    expect(child.errors).to.contain(`listening on ${path}`);
    child.endInput();

    expect(await child.exitCode()).to.equal(0);
  });
});
