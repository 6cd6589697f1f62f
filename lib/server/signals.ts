/**
 * The operating system's wish that the process ends: SIGTERM or SIGINT (Ctrl-C); on Windows only SIGINT exists. The first asks for a
 * drain, a second one ends the process at once. Only `run()` listens; `serve()` and `callback()` leave signals to their caller.
 *
 * @example
 * const signals = new Signals(clock);
 * signals.listen((signal) => drain(signal));
 * signals.release(); // when everything has stopped
 */
import type { Clock } from "../runtime/clock.js";

export type Signal = "SIGINT" | "SIGTERM";

/** What of `process` is used here; a test brings its own. */
export interface SignalSource {
  readonly platform: string;
  on(signal: Signal, listener: (signal: Signal) => void): unknown;
  off(signal: Signal, listener: (signal: Signal) => void): unknown;
  exit(code: number): unknown;
}

/** 128 and the signal's number, as a shell reports it. */
const EXIT_CODE: Readonly<Record<Signal, number>> = { SIGINT: 130, SIGTERM: 143 };

/**
 * Under `npm start` one Ctrl-C can arrive twice: from the terminal, which tells the whole group, and from npm, which passes it on
 * (half a millisecond apart where `sh` is bash). Nobody presses a key twice in this time.
 */
const ECHO_MS = 50;

export class Signals {
  private listener: ((signal: Signal) => void) | undefined;
  private first: { readonly signal: Signal; readonly at: number } | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly source: SignalSource = process,
  ) {}

  /** Calls `onFirst` for the first signal; a second one, of either kind, exits with 130 or 143. The echo of the first is not a second. */
  listen(onFirst: (signal: Signal) => void): void {
    this.release();
    this.listener = (signal) => this.take(signal, onFirst);
    for (const signal of this.signals()) this.source.on(signal, this.listener);
  }

  /** Removes the listeners; idempotent. */
  release(): void {
    const { listener } = this;
    if (listener === undefined) return;
    for (const signal of this.signals()) this.source.off(signal, listener);
    this.listener = undefined;
    this.first = undefined;
  }

  private take(signal: Signal, onFirst: (signal: Signal) => void): void {
    const at = this.clock.monotonic();
    if (this.first === undefined) {
      this.first = { signal, at };
      onFirst(signal);
    } else if (signal !== this.first.signal || at - this.first.at > ECHO_MS) {
      this.source.exit(EXIT_CODE[signal]);
    }
  }

  private signals(): readonly Signal[] {
    return this.source.platform === "win32" ? ["SIGINT"] : ["SIGINT", "SIGTERM"];
  }
}
