/**
 * The routes of a controller, the middleware classes that the container has to build for them, and the diagnostics of the controller and
 * its endpoints. Read once, when the application is built, before any instance exists.
 *
 * @example
 * const plan = ControllerPlan.of(LinksController);
 * const routes = new Routes([plan.group((made) => container.resolve(made))]).middleware(...moduleMiddleware);
 */
import type { Diagnostic } from "../errors/diagnostic.js";
import { controllerDiagnostics } from "./controller-diagnostics.js";
import { controllerSource, handlerMethods } from "./controller.js";
import { decoratedMethods, type HandlerMethod } from "../endpoints/endpoint.js";
import type { AnyClass, Handler } from "../endpoints/handler.js";
import {
  classMiddleware,
  isMiddlewareClass,
  methodMiddleware,
  type InstanceOf,
  type MiddlewareClass,
  type MiddlewareInput,
} from "./middleware.js";
import { Route } from "./route.js";
import { RouteGroup } from "./route-group.js";

export class ControllerPlan {
  readonly diagnostics: readonly Diagnostic[];
  private readonly methods: readonly HandlerMethod[];

  private constructor(readonly controller: AnyClass) {
    this.methods = handlerMethods(controller);
    this.diagnostics = controllerDiagnostics(controller, this.methods);
  }

  static of(controller: AnyClass): ControllerPlan {
    return new ControllerPlan(controller);
  }

  /** Whether the class has `@Controller` or a method that is decorated with an endpoint. */
  static isDecorated(candidate: AnyClass): boolean {
    return controllerSource(candidate) !== undefined || decoratedMethods(candidate).length > 0;
  }

  /** The middleware classes of the controller and of its handlers, each once. */
  get middlewareClasses(): readonly MiddlewareClass[] {
    const keys = this.methods.map(({ key }) => key);
    const ofMethods = [...new Set(keys)].flatMap((key) => methodMiddleware(this.controller, key));
    return middlewareClasses([...classMiddleware(this.controller), ...ofMethods]);
  }

  /** The routes, in the form that the builder makes of a `RouteGroup`. The first request asks `instanceOf` for the controller. */
  group(instanceOf: InstanceOf): RouteGroup {
    const source = controllerSource(this.controller);
    const prefix = source !== undefined && "prefix" in source ? source.prefix : "";
    const routes = this.methods.map((method) => this.route(method, instanceOf));
    const warnings = source !== undefined && "table" in source ? source.table.warnings : [];
    return new RouteGroup(prefix, routes).middleware(...classMiddleware(this.controller)).warnOf(warnings);
  }

  private route({ endpoint, key }: HandlerMethod, instanceOf: InstanceOf): Route {
    const { controller } = this;
    const route = Route.ofMethod(endpoint, handlerOf(controller, key, instanceOf), `${controller.name}.${String(key)}`);
    return route.middleware(...methodMiddleware(controller, key));
  }
}

/** The classes in a list of middleware, each once, in their order. */
export function middlewareClasses(inputs: readonly MiddlewareInput[]): readonly MiddlewareClass[] {
  return [...new Set(inputs.filter(isMiddlewareClass))];
}

/** A handler that calls the method on the one instance. */
function handlerOf(controller: AnyClass, key: string | symbol, instanceOf: InstanceOf): Handler {
  let method: Handler | undefined;
  return (ctx) => {
    if (method === undefined) {
      const instance = instanceOf(controller);
      method = methodOf(instance, key).bind(instance);
    }
    return method(ctx);
  };
}

function methodOf(owner: object, key: string | symbol): Handler {
  // Decorators accept methods only, and the compiler has compared their parameters with their paths.
  return Reflect.get(owner, key) as Handler;
}
