/**
 * The routes of a controller, the middleware classes that the container has to create for them, and the diagnostics of the controller and
 * its endpoints. The plan is read once, when the application is built, before any instance exists.
 *
 * @example
 * const plan = ControllerPlan.of(LinksController);
 * const routes = new Routes([plan.group((target) => container.resolve(target))]).middleware(...moduleMiddleware);
 */
import type { Diagnostic } from "../errors/diagnostic.js";
import { diagnoseController } from "./controller-diagnostics.js";
import { findControllerSource, getHandlerMethods } from "./controller.js";
import { getDecoratedMethods, type HandlerMethod } from "../endpoints/endpoint.js";
import type { AnyClass, Handler } from "../endpoints/handler.js";
import {
  getClassMiddleware,
  isMiddlewareClass,
  getMethodMiddleware,
  type GetInstance,
  type MiddlewareClass,
  type MiddlewareInput,
} from "./middleware.js";
import { Route } from "./route.js";
import { RouteGroup } from "./route-group.js";

export class ControllerPlan {
  readonly diagnostics: readonly Diagnostic[];
  private readonly methods: readonly HandlerMethod[];

  private constructor(readonly controller: AnyClass) {
    this.methods = getHandlerMethods(controller);
    this.diagnostics = diagnoseController(controller, this.methods);
  }

  static of(controller: AnyClass): ControllerPlan {
    return new ControllerPlan(controller);
  }

  /** Whether the class has `@Controller` or a method that is decorated with an endpoint. */
  static isDecorated(candidate: AnyClass): boolean {
    return findControllerSource(candidate) !== undefined || getDecoratedMethods(candidate).length > 0;
  }

  /** The middleware classes of the controller and of its handlers, each once. */
  get middlewareClasses(): readonly MiddlewareClass[] {
    const keys = this.methods.map(({ key }) => key);
    const methodInputs = [...new Set(keys)].flatMap((key) => getMethodMiddleware(this.controller, key));
    return listMiddlewareClasses([...getClassMiddleware(this.controller), ...methodInputs]);
  }

  /** Returns the routes, in the form that the builder gives a `RouteGroup`. The first request asks `getInstance` for the controller. */
  group(getInstance: GetInstance): RouteGroup {
    const source = findControllerSource(this.controller);
    const prefix = source !== undefined && "prefix" in source ? source.prefix : "";
    const routes = this.methods.map((method) => this.route(method, getInstance));
    const warnings = source !== undefined && "tables" in source ? source.tables.flatMap((table) => table.warnings) : [];
    return new RouteGroup(prefix, routes).middleware(...getClassMiddleware(this.controller)).setWarnings(warnings);
  }

  private route({ endpoint, key }: HandlerMethod, getInstance: GetInstance): Route {
    const { controller } = this;
    const route = Route.forMethod(
      endpoint,
      createHandler(controller, key, getInstance),
      `${controller.name}.${String(key)}`,
    );
    return route.middleware(...getMethodMiddleware(controller, key));
  }
}

/** Returns the classes in a list of middleware, each once, in their order. */
export function listMiddlewareClasses(inputs: readonly MiddlewareInput[]): readonly MiddlewareClass[] {
  return [...new Set(inputs.filter(isMiddlewareClass))];
}

/** Creates a handler that calls the method on the one instance. */
function createHandler(controller: AnyClass, key: string | symbol, getInstance: GetInstance): Handler {
  let method: Handler | undefined;
  const handler: Handler = (ctx) => {
    if (method === undefined) {
      const instance = getInstance(controller);
      method = getMethod(instance, key).bind(instance);
    }
    return method(ctx);
  };
  methods.set(handler, { controller, key });
  return handler;
}

const methods = new WeakMap<Handler, Pick<HandlerMethod, "key"> & { readonly controller: AnyClass }>();

/** The function that the program wrote for a handler, for the command. */
export function getWrittenMethod(handler: Handler): unknown {
  const method = methods.get(handler);
  return method === undefined ? handler : Reflect.get(method.controller.prototype, method.key);
}

function getMethod(instance: object, key: string | symbol): Handler {
  // Decorators accept methods only, and the compiler has compared their parameters with their paths.
  return Reflect.get(instance, key) as Handler;
}
