/**
 * The plan of an application: the values that the builder was given. A call of the builder only writes here. `build()` reads the plan, so
 * the order of the calls cannot matter.
 *
 * Values from callers without types are checked here if a wrong value would go unnoticed later. A wrong value becomes a diagnostic of
 * `build()` that names the call.
 */
import { describeToken, type InjectionToken } from "../di/token.js";
import type { Class } from "../runtime/class.js";
import { findForeignCopy } from "../errors/copy.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import type { ErrorMapping } from "../stages/error-mapping.js";
import { provide, type Binding, type Resolve } from "../di/provide.js";
import type { AddressBlocks } from "../http/request/address-blocks.js";
import type { Context } from "../http/request/context.js";
import type { PageContractRegistry } from "../stages/pages/contract-registry.js";
import type { DevProxyState } from "../stages/dev-proxy/dev-proxy.js";
import type { Pages } from "../stages/pages/pages.js";
import type { KoaApplication } from "../http/koa/koa-application.js";
import { getMiddlewareName, type KoaMiddleware, type Layer } from "../http/middleware.js";
import { HEALTH_PREFIX } from "../stages/health.js";
import type { LifecycleOptions } from "../lifecycle/lifecycle-options.js";
import type { Slot } from "../pipeline/table.js";
import {
  isMiddleware,
  isMiddlewareClass,
  describeInvalidMiddleware,
  type MiddlewareInput,
} from "../routing/middleware.js";
import { Routes } from "../routing/routes.js";
import type { ApiDocs } from "../openapi/api-docs.js";
import type { CsrfConfig } from "../stages/csrf/csrf-config.js";
import type { ServerAttachment } from "../server/listener.js";
import type { AppConfig } from "./config.js";

/** Creates the layer of a stage. An error that `make` throws becomes a diagnostic that names `call`. */
export interface StagePlan {
  readonly slot: Slot;
  readonly call: string;
  readonly make: (resolve: Resolve) => Layer;
  /** The tokens that `make` resolves. Without a token the layer is created before the container is built. */
  readonly needs: readonly InjectionToken[];
}

/** A call of the builder. */
export interface BuilderCall {
  readonly call: string;
  /** Its stack has the place of the call. Node formats a stack when it is read, so that only the command that shows it pays for it. */
  readonly site: Error;
}

/** The source of the object that a stage works with: the caller of the builder, or the container. */
export interface InstanceSource<T> {
  readonly needs: readonly InjectionToken[];
  readonly get: (resolve: Resolve) => T;
}

export class Plan {
  /** The handles that stages were given. Any other binding of the application overrides them. */
  readonly handles: Binding[] = [];
  readonly bindings: Binding[] = [];
  /** Bindings of a test that override all others. A binding that no class injects is refused. */
  readonly testOverrides: Binding[] = [];
  /** Bindings of a test that take the place of the framework's defaults. */
  readonly testDefaults: Binding[] = [];
  readonly routes: Routes[] = [];
  readonly stages: StagePlan[] = [];
  readonly attachments: ServerAttachment[] = [];
  readonly diagnostics: Diagnostic[] = [];
  /** The calls of the builder, in their order. `build()` has read the first ones; the calls after it have no effect. */
  readonly calls: BuilderCall[] = [];
  config: AppConfig | undefined;
  port: number | undefined;
  host = "127.0.0.1";
  trustedProxies: string | AddressBlocks | undefined;
  health = true;
  healthPrefix = HEALTH_PREFIX;
  uagPath: string | undefined;
  redirectMapper = true;
  stripResponses = false;
  lifecycle: LifecycleOptions = {};
  errorMapping: ErrorMapping | undefined;
  apiDocs: ApiDocs | undefined;
  csrf: CsrfConfig | undefined;
  pages: Pages | undefined;
  devProxy: DevProxyState = "off";
  pageContracts: PageContractRegistry | undefined;
  /** Koa's list has functions only. These stand in it for objects and classes until `build()`. */
  private readonly standIns = new Map<KoaMiddleware, MiddlewareInput>();

  constructor(
    readonly root: Class | undefined,
    readonly koa: KoaApplication,
  ) {}

  /** The layers of the application, the outermost first. Until `build()` they are Koa's list, which other code may replace. */
  get layers(): readonly MiddlewareInput[] {
    return this.koa.middleware.map((each) => this.standIns.get(each) ?? each);
  }

  recordCall(call: string): void {
    this.calls.push({ call, site: new Error(call) });
  }

  /** Lets the application's error mapper respond to an unhandled error. False if there is no mapper or it gave no response. */
  respondToUnhandledError(ctx: Context, thrown: unknown): boolean {
    return this.errorMapping?.respondWithMapper(ctx, thrown) ?? false;
  }

  addLayers(layers: readonly MiddlewareInput[]): void {
    this.recordCall(".layer(…)");
    for (const layer of layers) {
      if (!isMiddleware(layer)) this.diagnostics.push(describeInvalidMiddleware(layer, ".layer(…)"));
      else if (!this.koa.isServing) this.koa.middleware.push(this.toFunction(layer));
    }
  }

  private toFunction(layer: MiddlewareInput): KoaMiddleware {
    if (typeof layer === "function" && !isMiddlewareClass(layer)) return layer;
    const name = getMiddlewareName(layer);
    // Called only by code that puts a function of its own around it.
    const callLayer: KoaMiddleware = (ctx, next) => {
      if (typeof layer === "object") return layer.handle(ctx, next);
      throw new TypeError(`${name} is a class: code that wraps the members of koa.middleware has to run after build()`);
    };
    this.standIns.set(Object.defineProperty(callLayer, "name", { value: name }), layer);
    return callLayer;
  }

  /** A later call overrides an earlier one, option by option. */
  addLifecycleOptions(options: LifecycleOptions): void {
    this.recordCall(".lifecycle(…)");
    if (isOptions(options)) this.lifecycle = { ...this.lifecycle, ...options };
    else this.diagnostics.push(describeInvalidOptions(options));
  }

  addRoutes(routes: Routes): void {
    this.recordCall(".routes(…)");
    if (routes instanceof Routes) this.routes.push(routes);
    else this.diagnostics.push(describeInvalidRoutes(routes));
  }

  /** A `given` handle is also bound in the container, so that classes inject the same one. */
  handle<T>(token: InjectionToken<T>, given: T | undefined): InstanceSource<T> {
    if (given === undefined) return { needs: [token], get: (resolve) => resolve(token) };
    this.handles.push(provide(token).useValue(given));
    return { needs: [], get: () => given };
  }

  /** A second stage for the same slot is a fault. */
  addStage(slot: Slot, call: string, make: StagePlan["make"], ...needs: readonly InjectionToken[]): void {
    this.recordCall(call);
    if (this.stages.some((stage) => stage.slot === slot)) this.diagnostics.push(describeRepeatedStage(call));
    else this.stages.push({ slot, call, make, needs });
  }
}

// `Function`, because a class with a private constructor has no construct signature.
type ClassOf<T> = Function & { readonly prototype: T };

/** @throws TypeError if `given` is not an instance of `kind` */
export function checkInstance<T>(kind: ClassOf<T>, given: T): T {
  if (given instanceof kind) return given;
  throw new TypeError(`${describeToken(given)} is not ${/^[AEIOU]/.test(kind.name) ? "an" : "a"} ${kind.name}`);
}

/**
 * A value for the builder that creates its stage: an application that does not use the stage loads none of its code. `slot` distinguishes
 * such values.
 */
export interface StageFactory<Args extends readonly unknown[]> {
  readonly slot: Slot;
  toLayer(...args: Args): Layer;
}

/** @throws TypeError if `given` creates no stage for the slot */
export function createLayerFromFactory<Args extends readonly unknown[]>(
  slot: Slot,
  kind: string,
  given: StageFactory<Args>,
  ...args: Args
): Layer {
  // JavaScript callers may pass any value.
  if ((given as StageFactory<Args> | null | undefined)?.slot !== slot)
    throw new TypeError(`${describeToken(given)} is not a ${kind}`);
  return given.toLayer(...args);
}

function isOptions(given: unknown): given is object {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

export function describeRepeatedStage(call: string): Diagnostic {
  return {
    code: "E_STAGE_TWICE",
    what: `${call} was called twice`,
    where: "the application's builder",
    fix: "call it once; only .layer() may be repeated",
  };
}

function describeInvalidOptions(options: unknown): Diagnostic {
  return {
    code: "E_LIFECYCLE_OPTION",
    what: `${describeToken(options)} is not an object of times`,
    where: "Application.create().lifecycle({ … })",
    fix: "give milliseconds by name: { drainDeadlineMs: 60_000 }",
  };
}

function describeInvalidRoutes(routes: unknown): Diagnostic {
  const foreign = findForeignCopy(routes, ".routes(…)");
  return (
    foreign ?? {
      code: "E_ROUTES_INVALID",
      what: `${describeToken(routes)} is not a Routes object`,
      where: ".routes(…)",
      fix: "give a Routes: new Routes([…])",
    }
  );
}
