/**
 * The connections to a mail server: at most `maxConnections` at a time, each used by one mail at a time. A caller waits for a free one,
 * first come first served, until its signal aborts. An unused connection ends after `idleMs`.
 *
 * A server may close an unused connection just before it is used again. So a connection that was unused for a second is tested before it is
 * used, and a mail that fails on a used connection gets a new one.
 *
 * Internal: each `SmtpMailer` has one pool.
 */
import { type Clock, sleep, type Timer } from "../../runtime/clock.js";
import { SmtpFailure } from "./smtp-failure.js";
import type { SmtpSettings } from "./smtp-options.js";
import { SmtpSession } from "./smtp-session.js";

interface IdleSession {
  readonly session: SmtpSession;
  readonly since: number;
  readonly timer: Timer;
}

/** A session for one mail. */
export interface Lease {
  readonly session: SmtpSession;
  /** It has sent a mail before. */
  readonly isReused: boolean;
}

const MAX_WAITING = 10_000;
const CHECK_AFTER_MS = 1000;
const CHECK_LIMIT_MS = 2000;

export class SmtpPool {
  private readonly idle: IdleSession[] = [];
  private readonly waiting = new Set<() => void>();
  private readonly busy = new Set<SmtpSession>();
  /** Connections that a mail uses, or that are being opened for one. */
  private count = 0;
  private isStopped = false;

  constructor(
    private readonly settings: SmtpSettings,
    private readonly clock: () => Clock,
  ) {}

  /**
   * @param isFresh a new connection is wanted, since a used one has failed
   * @throws SmtpFailure; the reason of the signal
   */
  async take(signal: AbortSignal, isFresh = false): Promise<Lease> {
    await this.takePlace(signal);
    try {
      // The other unused connections are as old as the failed connection, and count as connections too.
      if (isFresh) this.closeIdle();
      const used = isFresh ? undefined : await this.takeIdle(signal);
      const session = used ?? (await SmtpSession.open(this.settings, this.clock(), signal));
      this.busy.add(session);
      return { session, isReused: used !== undefined };
    } catch (error) {
      this.leavePlace();
      throw error;
    }
  }

  /** Releases a session, for the next mail or to be closed. */
  release(session: SmtpSession): void {
    this.busy.delete(session);
    if (session.isUsable) {
      if (this.isStopped || session.mails >= this.settings.maxMailsPerConnection) session.quit();
      else this.addIdle(session);
    }
    this.leavePlace();
  }

  /** Closes unused connections with QUIT. A mail that is being sent has `limitMs` to end. */
  async stop(limitMs: number): Promise<void> {
    this.isStopped = true;
    this.closeIdle();
    for (const wake of this.waiting) wake();
    const clock = this.clock();
    const end = clock.monotonic() + limitMs;
    while (this.count > 0 && clock.monotonic() < end) await sleep(clock, 20);
    for (const session of this.busy) session.close();
  }

  /** The pool can be used again after it was stopped. */
  restart(): void {
    this.isStopped = false;
  }

  /** Waits until fewer than `maxConnections` are in use, then counts one more. */
  private async takePlace(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (!this.isStopped && this.count >= this.settings.maxConnections) {
      if (this.waiting.size >= MAX_WAITING)
        throw new SmtpFailure(`${MAX_WAITING} mails are waiting for a connection already`, false);
      await this.waitForPlace(signal);
    }
    if (this.isStopped) throw new SmtpFailure("the mailer has stopped", false);
    this.count += 1;
  }

  private waitForPlace(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.waiting.delete(wake);
        signal.removeEventListener("abort", aborted);
      };
      const wake = (): void => {
        settle();
        resolve();
      };
      const aborted = (): void => {
        settle();
        reject(signal.reason as Error);
      };
      this.waiting.add(wake);
      signal.addEventListener("abort", aborted, { once: true });
    });
  }

  private leavePlace(): void {
    this.count -= 1;
    const [next] = this.waiting;
    next?.();
  }

  /** The unused session that was used last, if it still works. */
  private async takeIdle(signal: AbortSignal): Promise<SmtpSession | undefined> {
    for (let found = this.idle.pop(); found !== undefined; found = this.idle.pop()) {
      found.timer.cancel();
      if (found.session.isUsable && (await this.isAlive(found, signal))) return found.session;
      found.session.close();
    }
    return undefined;
  }

  private async isAlive({ session, since }: IdleSession, signal: AbortSignal): Promise<boolean> {
    const clock = this.clock();
    if (clock.monotonic() - since < CHECK_AFTER_MS) return true;
    const limit = new AbortController();
    const timer = clock.setTimeout(() => limit.abort(new Error("no reply")), CHECK_LIMIT_MS);
    try {
      await session.check(AbortSignal.any([signal, limit.signal]));
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      return false;
    } finally {
      timer.cancel();
    }
  }

  private addIdle(session: SmtpSession): void {
    const clock = this.clock();
    const timer = clock.setTimeout(() => this.expire(session), this.settings.idleMs, { background: true });
    this.idle.push({ session, since: clock.monotonic(), timer });
  }

  private expire(session: SmtpSession): void {
    const at = this.idle.findIndex((each) => each.session === session);
    if (at >= 0) this.idle.splice(at, 1);
    session.quit();
  }

  private closeIdle(): void {
    for (const { session, timer } of this.idle.splice(0)) {
      timer.cancel();
      session.quit();
    }
  }
}
