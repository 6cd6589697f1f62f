/**
 * What a builder was told, before anything is made of it. Every call only writes here; `build()` reads, so call order cannot matter.
 */
import { nameOf, type Class, type InjectionToken } from "../di/token.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import type { ErrorMapping } from "../stages/error-mapping.js";
import { provide, type Binding } from "../di/provide.js";
import type { Context } from "../http/context.js";
import type { Layer } from "../http/middleware.js";
import { HEALTH_PREFIX } from "../stages/health.js";
import type { LifecycleOptions } from "../lifecycle/options.js";
import type { Slot } from "../pipeline/table.js";
import { isMiddleware, noMiddleware, type MiddlewareInput } from "../routing/middleware.js";
import { Routes } from "../routing/routes.js";
import type { AppConfig } from "./config.js";

// What a call of the builder was given, where a caller without types gives something else that would pass unseen: a number in place of
// options has none of their names, a word in place of `false` is true, and a function can stand in the chain whatever it is called.
// What is thrown here becomes a finding of `build()` under the name of the call.

/** What `instanceof` asks; a class with a private constructor is one too. */
type Kind<T> = Function & { readonly prototype: T };

export function instanceOf<T>(kind: Kind<T>, given: T): T {
  if (given instanceof kind) return given;
  throw new TypeError(`${nameOf(given)} is no ${kind.name}`);
}

/** Options that may be left out. */
export function optionsOf<T extends object>(given: T | undefined): T | undefined {
  if (given === undefined || isOptions(given)) return given;
  throw new TypeError(`${nameOf(given)} is no object of options`);
}

export function isOptions(given: unknown): given is object {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

/** Whether something is on, where only true and false are answers. */
export function checkSwitch(given: unknown, where: string): Diagnostic | undefined {
  if (typeof given === "boolean") return undefined;
  return { code: "E_STAGE", what: `${nameOf(given)} is neither true nor false`, where, fix: "give one of the two" };
}

/** What a stage may ask while it is made. */
export interface Ask {
  get<T>(token: InjectionToken<T>): T;
}

/** How a stage is made, once the container stands. What it throws becomes a finding under the name of the call. */
export interface StagePlan {
  readonly slot: Slot;
  readonly call: string;
  readonly make: (ask: Ask) => Layer;
  /** What it will ask the container for. */
  readonly asks: readonly InjectionToken[];
}

/** A handle, and what has to be asked of the container for it. */
export interface Handle<T> {
  readonly asks: readonly InjectionToken[];
  readonly from: (ask: Ask) => T;
}

export class Plan {
  /** Of handles that stages were given; every other binding of the application beats them. */
  readonly handles: Binding[] = [];
  readonly bindings: Binding[] = [];
  /** Bindings of a test: refused where nothing injects them. */
  readonly doubles: Binding[] = [];
  /** A test's own defaults, in place of the framework's. */
  readonly fallbacks: Binding[] = [];
  readonly routes: Routes[] = [];
  readonly layers: MiddlewareInput[] = [];
  readonly stages: StagePlan[] = [];
  readonly findings: Diagnostic[] = [];
  config: AppConfig | undefined;
  port: number | undefined;
  host = "127.0.0.1";
  trustedProxies: string | undefined;
  health = true;
  healthPrefix = HEALTH_PREFIX;
  redirectMapper = true;
  lifecycle: LifecycleOptions = {};
  errorMapping: ErrorMapping | undefined;

  constructor(readonly root: Class | undefined) {}

  /** Has the application's own error mapper answer a panic, where there is one. */
  answerPanic(ctx: Context): boolean {
    return this.errorMapping?.answerByMapper(ctx) ?? false;
  }

  layer(layers: readonly MiddlewareInput[]): void {
    for (const layer of layers) {
      if (isMiddleware(layer)) this.layers.push(layer);
      else this.findings.push(noMiddleware(layer, ".layer(…)"));
    }
  }

  /** What a later call says of the same time counts. */
  times(options: LifecycleOptions): void {
    if (isOptions(options)) this.lifecycle = { ...this.lifecycle, ...options };
    else this.findings.push(noTimes(options));
  }

  route(routes: Routes): void {
    if (routes instanceof Routes) this.routes.push(routes);
    else this.findings.push(noRoutes(routes));
  }

  /** What a stage works with: the handle that it was given, which is then the container's too, or the container's own. */
  handle<T>(token: InjectionToken<T>, given: T | undefined): Handle<T> {
    if (given === undefined) return { asks: [token], from: (ask) => ask.get(token) };
    this.handles.push(provide(token).useValue(given));
    return { asks: [], from: () => given };
  }

  /** Adds a stage; the same one twice is a fault. */
  stage(slot: Slot, call: string, make: StagePlan["make"], ...asks: readonly InjectionToken[]): void {
    if (this.stages.some((stage) => stage.slot === slot)) this.findings.push(twice(call));
    else this.stages.push({ slot, call, make, asks });
  }
}

function twice(call: string): Diagnostic {
  return {
    code: "E_STAGE_TWICE",
    what: `${call} was called twice`,
    where: "the application's builder",
    fix: "call it once; only .layer() may be repeated",
  };
}

function noTimes(options: unknown): Diagnostic {
  return {
    code: "E_LIFECYCLE_OPTION",
    what: `${nameOf(options)} is no object of times`,
    where: "Application.create().lifecycle({ … })",
    fix: "give milliseconds by name: { drainDeadlineMs: 60_000 }",
  };
}

function noRoutes(routes: unknown): Diagnostic {
  return {
    code: "E_ROUTES_INVALID",
    what: `${nameOf(routes)} is no collection of routes`,
    where: ".routes(…)",
    fix: "give a Routes: new Routes([…])",
  };
}
