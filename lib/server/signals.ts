/**
 * The signals that ask the process to end: SIGTERM and SIGINT (Ctrl-C); Windows has only SIGINT. The first signal starts a drain, a second
 * one exits at once. Only `run()` listens for signals; with `serve()` and `callback()` the caller handles them.
 *
 * @example
 * const signals = new Signals(clock);
 * signals.listen((signal) => drain(signal));
 * signals.release(); // after the stop
 */
import type { Clock } from "../runtime/clock.js";

export type Signal = "SIGINT" | "SIGTERM";

/** The part of `process` that is used here. A test passes a double. */
export interface SignalSource {
  readonly platform: string;
  on(signal: Signal, listener: (signal: Signal) => void): unknown;
  off(signal: Signal, listener: (signal: Signal) => void): unknown;
  exit(code: number): unknown;
}

/** 128 plus the number of the signal, as shells report it. */
const EXIT_CODE: Readonly<Record<Signal, number>> = { SIGINT: 130, SIGTERM: 143 };

/**
 * Under `npm start` one Ctrl-C can arrive twice: from the terminal, which signals the whole process group, and from npm, which passes it
 * on (half a millisecond later where `sh` is bash). A person needs longer to press the keys again.
 */
const ECHO_MS = 50;

export class Signals {
  private listener: ((signal: Signal) => void) | undefined;
  private first: { readonly signal: Signal; readonly at: number } | undefined;

  constructor(
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly source: SignalSource = process,
  ) {}

  /** Calls `onFirst` for the first signal. A second one, of either kind, exits with 130 or 143; the echo of the first does not count. */
  listen(onFirst: (signal: Signal) => void): void {
    this.release();
    this.listener = (signal) => this.receive(signal, onFirst);
    for (const signal of this.listSignals()) this.source.on(signal, this.listener);
  }

  /** Removes the listeners. May be called more than once. */
  release(): void {
    const { listener } = this;
    if (listener === undefined) return;
    for (const signal of this.listSignals()) this.source.off(signal, listener);
    this.listener = undefined;
    this.first = undefined;
  }

  private receive(signal: Signal, onFirst: (signal: Signal) => void): void {
    const at = this.clock.monotonic();
    if (this.first === undefined) {
      this.first = { signal, at };
      onFirst(signal);
    } else if (signal !== this.first.signal || at - this.first.at > ECHO_MS) {
      this.source.exit(EXIT_CODE[signal]);
    }
  }

  private listSignals(): readonly Signal[] {
    return this.source.platform === "win32" ? ["SIGINT"] : ["SIGINT", "SIGTERM"];
  }
}
