import { EventEmitter } from "node:events";
import { expect } from "chai";
import { Signals, type Signal, type SignalSource } from "../../lib/server/signals.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";

class Source extends EventEmitter implements SignalSource {
  readonly exits: number[] = [];

  constructor(readonly platform: string = "linux") {
    super();
  }

  exit(code: number): void {
    this.exits.push(code);
  }

  send(signal: Signal): void {
    this.emit(signal, signal);
  }
}

function setUp(platform?: string) {
  const source = new Source(platform);
  const clock = new FakeClock();
  const signals = new Signals(clock, source);
  const received: Signal[] = [];
  signals.listen((signal) => received.push(signal));
  return { source, clock, signals, received };
}

const listeners = () => process.listenerCount("SIGINT") + process.listenerCount("SIGTERM");

describe("Signals", () => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it(`reports the first ${signal} and does not exit`, () => {
      const { source, received } = setUp();

      source.send(signal);

      expect(received).to.deep.equal([signal]);
      expect(source.exits).to.deep.equal([]);
    });
  }

  for (const [first, second, code] of [
    ["SIGINT", "SIGINT", 130],
    ["SIGTERM", "SIGINT", 130],
    ["SIGTERM", "SIGTERM", 143],
    ["SIGINT", "SIGTERM", 143],
  ] as const) {
    it(`exits with ${code} at once when ${second} follows ${first}`, () => {
      const { source, clock, received } = setUp();

      source.send(first);
      clock.advance(51);
      source.send(second);

      expect(source.exits).to.deep.equal([code]);
      expect(received).to.deep.equal([first]);
    });
  }

  it("ignores the same signal within 50 ms, as an echo of the first", () => {
    const { source, clock, received } = setUp();

    source.send("SIGINT");
    clock.advance(50);
    source.send("SIGINT");

    expect(source.exits).to.deep.equal([]);
    expect(received).to.deep.equal(["SIGINT"]);
  });

  it("counts the other signal as a second one at any time", () => {
    const { source } = setUp();

    source.send("SIGINT");
    source.send("SIGTERM");

    expect(source.exits).to.deep.equal([143]);
  });

  it("listens to both signals, and on Windows to SIGINT alone", () => {
    expect(setUp("linux").source.eventNames()).to.have.members(["SIGINT", "SIGTERM"]);
    expect(setUp("win32").source.eventNames()).to.have.members(["SIGINT"]);
  });

  it("removes its listeners, and may be released again", () => {
    const { source, signals } = setUp();

    signals.release();
    signals.release();

    expect(source.eventNames()).to.deep.equal([]);
  });

  it("treats the first signal as the first again after it listens again", () => {
    const { source, signals, received } = setUp();
    source.send("SIGINT");

    signals.listen((signal) => received.push(signal));
    source.send("SIGTERM");

    expect(received).to.deep.equal(["SIGINT", "SIGTERM"]);
    expect(source.exits).to.deep.equal([]);
    expect(source.listenerCount("SIGINT")).to.equal(1);
  });

  it("adds no listener to the process before it listens, and removes all of them", () => {
    const before = listeners();

    const signals = new Signals(new FakeClock());
    const made = listeners();
    signals.listen(() => {});
    const listening = listeners();
    signals.release();

    expect(made).to.equal(before);
    expect(listening).to.be.above(before);
    expect(listeners()).to.equal(before);
  });
});
