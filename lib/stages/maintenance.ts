/**
 * The switch of maintenance mode: a handle that the application holds, injects and flips. While it is engaged every request but those
 * to an allowed path is answered 503; health endpoints stand outside and keep answering. Requests already inside finish.
 *
 * There is no registry: who does not hold the handle cannot engage it. It knows this process only; several processes are switched
 * one by one, or through whatever tells each of them.
 *
 * @example
 * const maintenance = new Maintenance().allow("/status").retryAfter(120);
 * builder.maintenance(maintenance);
 * maintenance.engage();
 */
import { FrameworkError } from "../errors/framework-error.js";
import { refuse } from "../http/refuse.js";
import type { Context } from "../http/context.js";
import { Layer, type Run } from "../http/middleware.js";
import { Problem } from "../errors/problem.js";
import { tracing } from "../tracing/tracing.js";

/** What `Retry-After` says unless told otherwise, in seconds. */
const DEFAULT_RETRY_AFTER = 60;

export class Maintenance {
  private engagedNow = false;
  private allowsEverything = false;
  private readonly allowed: string[] = [];
  private retryAfterSeconds = DEFAULT_RETRY_AFTER;

  /** A handle that starts engaged, for a process that is brought up closed. */
  static engaged(): Maintenance {
    return new Maintenance().engage();
  }

  /** Refuses requests from now on; does nothing where they are refused already. */
  engage(): this {
    this.engagedNow = true;
    return this;
  }

  /** Lets requests in again; does nothing where they are let in already. */
  disengage(): this {
    this.engagedNow = false;
    return this;
  }

  get isEngaged(): boolean {
    return this.engagedNow;
  }

  /**
   * Lets requests to `path`, and to anything below it, through. Slashes at either end do not matter, `"/"` allows everything; compared
   * with the raw path, letter by letter.
   *
   * @throws FrameworkError `E_MAINTENANCE_PATH` for an empty path, one with a query, a fragment or a blank, which no request would match,
   * and for a pattern: there are none
   */
  allow(path: string): this {
    // JavaScript callers may pass anything.
    if (typeof path !== "string" || path === "" || /[?#\s]/.test(path)) throw refusePath(path);
    if (path.includes("*")) throw refusePattern(path);
    const bare = withoutOuterSlashes(path);
    if (bare === "") this.allowsEverything = true;
    else this.allowed.push(`/${bare}`);
    return this;
  }

  /**
   * What `Retry-After` says, in whole seconds.
   *
   * @throws FrameworkError `E_MAINTENANCE_RETRY_AFTER` for anything but a whole number from 0 on (RFC 9110 section 10.2.3)
   */
  retryAfter(seconds: number): this {
    if (!Number.isSafeInteger(seconds) || seconds < 0) {
      throw new FrameworkError(`retryAfter(${seconds}): Retry-After takes a whole number of seconds, 0 or more`, {
        code: "E_MAINTENANCE_RETRY_AFTER",
      });
    }
    this.retryAfterSeconds = seconds;
    return this;
  }

  /** The value of `Retry-After`. @internal */
  get retryAfterHeader(): string {
    return String(this.retryAfterSeconds);
  }

  /** Whether a request to this raw path goes through while engaged. @internal */
  allows(path: string): boolean {
    if (this.allowsEverything) return true;
    return this.allowed.some(
      (each) => path.startsWith(each) && (path.length === each.length || path[each.length] === "/"),
    );
  }
}

function withoutOuterSlashes(path: string): string {
  let start = 0;
  let end = path.length;
  while (start < end && path[start] === "/") start++;
  while (end > start && path[end - 1] === "/") end--;
  return path.slice(start, end);
}

function refusePattern(path: string): FrameworkError {
  const bare = withoutOuterSlashes(path.slice(0, path.indexOf("*")));
  return new FrameworkError(
    `allow(${JSON.stringify(path)}) is no pattern: allow("/${bare}") lets ${bare === "" ? "everything" : "everything below it"} through`,
    { code: "E_MAINTENANCE_PATH" },
  );
}

function refusePath(path: unknown): FrameworkError {
  return new FrameworkError(
    `allow(${JSON.stringify(path)}) would match no request: give a path such as "/status", or "/" for everything`,
    { code: "E_MAINTENANCE_PATH" },
  );
}

/**
 * Stage layer: while the handle is engaged, everything but its allowed paths is answered 503 with `Retry-After` and a problem body.
 * It looks at the switch when a request comes in, never again: what is inside finishes.
 */
const log = tracing.target("framework::http::maintenance");

const CLOSED = Problem.of(503, "The application is down for maintenance. Please try again shortly.");

export class MaintenanceLayer extends Layer {
  constructor(private readonly maintenance: Maintenance) {
    super();
    if (!(maintenance instanceof Maintenance)) throw new TypeError(`${String(maintenance)} is no Maintenance`);
  }

  override wrap(inner: Run): Run {
    const { maintenance } = this;
    return (ctx) => {
      if (!maintenance.isEngaged || maintenance.allows(ctx.path)) return inner(ctx);
      refuseRequest(ctx, maintenance);
      return undefined;
    };
  }
}

function refuseRequest(ctx: Context, maintenance: Maintenance): void {
  log.debug("refused for maintenance", { status: 503 });
  refuse(ctx, CLOSED);
  ctx.raw.setHeader("Retry-After", maintenance.retryAfterHeader);
}

/**
 * While the application starts, the listener answers already, and everything but health is refused where maintenance would stand.
 * Only `run()` has it; it leaves the chain with the first request after the start.
 */
export class BootingGate extends Layer {
  override wrap(_inner: Run): Run {
    return (ctx) => {
      refuse(ctx, new Problem(503, { detail: "The application is starting. Please try again shortly." }));
      ctx.raw.setHeader("Retry-After", "1");
    };
  }
}
