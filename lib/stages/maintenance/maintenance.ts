/**
 * Maintenance mode: a switch, and the stage that obeys it. While the switch is on, requests are refused with 503, `Retry-After` and a
 * problem body, except those to an allowed path. The health endpoints are outside of this stage and still work. The switch is read when a
 * request arrives; requests in progress finish.
 *
 * The switch is a value: only code with a reference to the `Maintenance` can engage it. It applies to this process only, unless it has a
 * store: all processes with the same store follow within a second, and so does the command `stagecraft down`.
 *
 * @example
 * const maintenance = new Maintenance().allow("/status").retryAfter(120);
 * builder.maintenance(maintenance);
 * maintenance.engage();
 */
import { valueText } from "../../errors/value-text.js";
import type { FrameworkError } from "../../errors/framework-error.js";
import { refuse } from "../../http/failures/refuse.js";
import type { Context } from "../../http/request/context.js";
import { StageLayer, type Run } from "../../http/middleware.js";
import { Problem } from "../../errors/problem.js";
import { tracing } from "../../tracing/tracing.js";
import { createSetupError } from "../../errors/setup-error.js";
import { checkWholeNumber } from "../../errors/whole-number.js";
import type { Subsystem } from "../../lifecycle/subsystem.js";
import { type MaintenanceChange, MaintenancePoll } from "./maintenance-poll.js";
import { type MaintenanceState, MaintenanceStore } from "./maintenance-store.js";

const log = tracing.target("framework::http::maintenance");

const CLOSED = Problem.of(503, "The application is down for maintenance. Please try again shortly.");

/** In seconds. */
const DEFAULT_RETRY_AFTER = 60;

export class Maintenance {
  private isOn = false;
  private allowsAllPaths = false;
  private readonly allowed: string[] = [];
  private retryAfterSeconds = DEFAULT_RETRY_AFTER;
  private storedRetryAfter: number | undefined = undefined;
  private sharedStore: MaintenanceStore | undefined = undefined;
  /** One for each application that runs with the switch. */
  private readonly changes = new Set<MaintenanceChange>();

  /** A switch that is engaged from the start, for a process that starts in maintenance mode. The state of a store overrides it. */
  static engaged(): Maintenance {
    return new Maintenance().engage();
  }

  /** Refuses requests from now on. A second call has no effect. */
  engage(): this {
    return this.change(true);
  }

  /** Lets requests in again. A second call has no effect. */
  disengage(): this {
    return this.change(false);
  }

  get isEngaged(): boolean {
    return this.isOn;
  }

  /**
   * Lets requests to `path`, and to all paths below it, through; `"/"` allows all paths. Slashes at both ends are ignored. The path is
   * compared with the raw path of a request, and upper and lower case differ.
   *
   * @throws FrameworkError `E_MAINTENANCE_PATH` for an empty path, for one with a query, a fragment or whitespace, which matches no
   * request, and for one with a `*`, because there are no patterns
   */
  allow(path: string): this {
    // JavaScript callers may pass any value.
    if (typeof path !== "string" || path === "" || /[?#\s]/.test(path))
      throw createSetupError(
        "E_MAINTENANCE_PATH",
        `allow(${JSON.stringify(path)}) would match no request: give a path such as "/status", or "/" for all paths`,
      );
    if (path.includes("*")) throw createPatternError(path);
    const bare = trimSlashes(path);
    if (bare === "") this.allowsAllPaths = true;
    else this.allowed.push(`/${bare}`);
    return this;
  }

  /**
   * Sets the value of `Retry-After`, in whole seconds; 60 unless set.
   *
   * @throws FrameworkError `E_MAINTENANCE_RETRY_AFTER` unless `seconds` is a whole number, 0 or more (RFC 9110 section 10.2.3)
   */
  retryAfter(seconds: number): this {
    this.retryAfterSeconds = checkWholeNumber("E_MAINTENANCE_RETRY_AFTER", "retryAfter(seconds)", seconds, [0]);
    return this;
  }

  /**
   * Shares the state with all processes that have the same store. While the application runs, it reads the store each second, and
   * `engage()` and `disengage()` write it: at once in this process, within a second in the others. While the store is away, the last known
   * state stays, and a change is written when the store is back. Call it before `build()`.
   *
   * `run()` and `testApp` read the store. `serve` and `callback`, which start no subsystem, do not.
   *
   * @throws FrameworkError `E_MAINTENANCE_STORE` unless `store` is a MaintenanceStore
   */
  store(store: MaintenanceStore): this {
    // JavaScript callers may pass any value.
    if (!(store instanceof MaintenanceStore))
      throw createSetupError(
        "E_MAINTENANCE_STORE",
        `${valueText(store)} is no store of a maintenance: .store(new FileMaintenanceStore("/srv/shop/maintenance.json"))`,
      );
    this.sharedStore = store;
    return this;
  }

  /** The store that `store()` was given, for the command. @internal */
  get givenStore(): MaintenanceStore | undefined {
    return this.sharedStore;
  }

  /** The value of `Retry-After`. @internal */
  get retryAfterHeader(): string {
    return String(this.storedRetryAfter ?? this.retryAfterSeconds);
  }

  /** @internal */
  follow(state: Pick<MaintenanceState, "isEngaged" | "retryAfter"> | undefined): void {
    this.isOn = state?.isEngaged === true;
    this.storedRetryAfter = state?.retryAfter;
  }

  /** @internal */
  onChange(change: MaintenanceChange): () => void {
    this.changes.add(change);
    return () => void this.changes.delete(change);
  }

  /** The allowed paths that resemble templates. They are compared as text, so they hardly ever match. @internal */
  get templates(): readonly string[] {
    return this.allowed.filter((path) => /[{}]|\/:[A-Za-z_]/.test(path));
  }

  /** Whether a request to this raw path is allowed in maintenance mode. @internal */
  allows(path: string): boolean {
    if (this.allowsAllPaths) return true;
    return this.allowed.some(
      (each) => path.startsWith(each) && (path.length === each.length || path[each.length] === "/"),
    );
  }

  private change(isEngaged: boolean): this {
    if (isEngaged !== this.isOn) this.follow({ isEngaged });
    for (const change of this.changes) change(isEngaged);
    return this;
  }
}

export class MaintenanceLayer extends StageLayer {
  /** The store of the switch is read while the application runs. @internal */
  readonly subsystems: readonly Subsystem[];

  constructor(readonly maintenance: Maintenance) {
    super();
    if (!(maintenance instanceof Maintenance)) throw new TypeError(`${valueText(maintenance)} is not a Maintenance`);
    const store = maintenance.givenStore;
    this.subsystems = store === undefined ? [] : [...store.subsystems, new MaintenancePoll(maintenance, store)];
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
 * Refuses all requests with 503 while the application starts: the listener accepts connections before the start is complete. It takes the
 * slot of maintenance, so the health endpoints work.
 */
export class BootingLayer extends StageLayer {
  isBooting = false;

  override wrap(inner: Run): Run {
    return (ctx) => {
      if (!this.isBooting) return inner(ctx);
      refuse(ctx, new Problem(503, { detail: "The application is starting. Please try again shortly." }));
      ctx.raw.setHeader("Retry-After", "1");
      return undefined;
    };
  }
}

function trimSlashes(path: string): string {
  let start = 0;
  let end = path.length;
  while (start < end && path[start] === "/") start++;
  while (end > start && path[end - 1] === "/") end--;
  return path.slice(start, end);
}

function createPatternError(path: string): FrameworkError {
  const bare = trimSlashes(path.slice(0, path.indexOf("*")));
  return createSetupError(
    "E_MAINTENANCE_PATH",
    `allow(${JSON.stringify(path)}) cannot be a pattern: allow("/${bare}") lets ${bare === "" ? "all paths" : "all paths below it"} through`,
  );
}
