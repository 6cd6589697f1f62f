/** Event streams at a drain: each ends in order when the drain starts, and its client continues at another instance. */
import net, { type AddressInfo } from "node:net";
import { expect } from "chai";
import { Application, Clock, provide, Reply, Route, Routes, type ServerSentEvent } from "@stagecraft/framework";
import { FakeClock } from "@stagecraft/framework/testing";
import { Conversation } from "../support/conversation.js";
import { listening } from "../support/listening.js";
import { until } from "../support/until.js";

/** The time of the load balancer. The clock of these specs reaches it only after the streams have ended. */
const DELAY_MS = 5000;

/** An instance of the application whose event streams give one event and then wait. */
class Instance {
  readonly clock = new FakeClock();
  private isStopped = false;

  async start(): Promise<{ readonly port: number; stop(): Promise<void> }> {
    const routes = new Routes([
      Route.get("/events", () => Reply.events((lastEventId) => this.events(Number(lastEventId ?? 0) + 1))),
    ]);
    const application = Application.create()
      .routes(routes)
      .provide(provide(Clock).useValue(this.clock))
      .lifecycle({ drainDelayMs: DELAY_MS, drainDeadlineMs: 10 * DELAY_MS })
      .build();
    const running = await application.serve((await listening(net.createServer())).server);
    return { port: (running.address as AddressInfo).port, stop: () => running.stop() };
  }

  /** Lets the time of the drain pass. */
  async finish(stopping: Promise<void>): Promise<void> {
    void stopping.then(() => (this.isStopped = true));
    await until(() => {
      this.clock.advance(100);
      return this.isStopped;
    });
  }

  private async *events(id: number): AsyncGenerator<ServerSentEvent> {
    yield { id: String(id), data: "moved" };
    await new Promise<never>(() => {});
  }
}

function get(lastEventId?: number): string {
  const id = lastEventId === undefined ? "" : `Last-Event-ID: ${lastEventId}\r\n`;
  return `GET /events HTTP/1.1\r\nHost: a\r\n${id}\r\n`;
}

describe("an event stream", () => {
  it("ends in order when the drain starts, and its client continues at another instance", async () => {
    const instance = new Instance();
    const running = await instance.start();
    const other = new Instance();
    const otherRunning = await other.start();
    await using client = await Conversation.with(running.port);
    await using again = await Conversation.with(otherRunning.port);

    await client.say(get()).hear(/id: 1\ndata: moved\n\n/);
    const stopping = running.stop();
    const whole = await client.hear(/\r\n0\r\n\r\n$/);
    await again.say(get(1)).hear(/id: 2\ndata: moved\n\n/);

    expect(whole).to.match(/^HTTP\/1\.1 200 /);
    await instance.finish(stopping);
    await other.finish(otherRunning.stop());
  });

  it("that starts during the drain ends at once", async () => {
    const instance = new Instance();
    const running = await instance.start();
    await using client = await Conversation.with(running.port);

    const stopping = running.stop();
    const whole = await client.say(get(7)).hear(/\r\n0\r\n\r\n$/);

    expect(whole)
      .to.match(/^HTTP\/1\.1 200 /)
      .and.to.match(/\r\nConnection: close\r\n/i)
      .and.not.to.contain("data:");
    await instance.finish(stopping);
  });
});
