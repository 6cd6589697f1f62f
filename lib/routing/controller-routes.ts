/**
 * A controller read: its routes, the middleware classes that have to be built for them, and everything that is wrong with the tie
 * between the two. Read once, when the application is built, before any instance exists.
 *
 * @example
 * const plan = ControllerPlan.of(LinksController);
 * const routes = new Routes([plan.group((made) => container.resolve(made))]).middleware(...moduleMiddleware);
 */
import type { Diagnostic } from "../errors/diagnostic.js";
import { type AnyClass, usesOf, type Handler } from "./handler.js";
import { bindings, type Binding, controllerSource } from "./controller.js";
import { controllerFindings } from "./controller-diagnostics.js";
import {
  type InstanceOf,
  isMiddlewareClass,
  type MiddlewareClass,
  type MiddlewareInput,
  classMiddleware,
  methodMiddleware,
} from "./middleware.js";
import { Route, RouteGroup } from "./route.js";

export class ControllerPlan {
  readonly findings: readonly Diagnostic[];
  private readonly bound: readonly Binding[];

  private constructor(readonly controller: AnyClass) {
    this.bound = bindings(controller);
    this.findings = controllerFindings(controller, this.bound);
  }

  static of(controller: AnyClass): ControllerPlan {
    return new ControllerPlan(controller);
  }

  /** Whether methods of a class are decorated with endpoints, so that it should be a controller. */
  static isDecorated(candidate: AnyClass): boolean {
    return controllerSource(candidate) !== undefined || usesOf(candidate).length > 0;
  }

  /** The classes that stand on the controller and its handlers, each once. */
  get middlewareClasses(): readonly MiddlewareClass[] {
    const keys = this.bound.map(({ key }) => key);
    const onMethods = [...new Set(keys)].flatMap((key) => methodMiddleware(this.controller, key));
    return middlewareClasses([...classMiddleware(this.controller), ...onMethods]);
  }

  /** The routes, as the builder would make them. `instanceOf` is asked for the controller at the first request, not before. */
  group(instanceOf: InstanceOf): RouteGroup {
    const source = controllerSource(this.controller);
    const prefix = source !== undefined && "prefix" in source ? source.prefix : "";
    const routes = this.bound.map((binding) => this.route(binding, instanceOf));
    return new RouteGroup(prefix, routes).middleware(...classMiddleware(this.controller));
  }

  private route({ endpoint, key }: Binding, instanceOf: InstanceOf): Route {
    const { controller } = this;
    const { method, path, name, pages } = endpoint;
    const handlerName = `${controller.name}.${String(key)}`;
    const route = Route.of(method, path, handlerOf(controller, key, instanceOf), { name, pages, handlerName });
    return route.middleware(...methodMiddleware(controller, key));
  }
}

/** The classes among middlewares, each once, in their order. */
export function middlewareClasses(inputs: readonly MiddlewareInput[]): readonly MiddlewareClass[] {
  return [...new Set(inputs.filter(isMiddlewareClass))];
}

/** The method, called on the one instance. */
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
  // Decorators are accepted on methods only, whose parameters the compiler has compared with their paths.
  return Reflect.get(owner, key) as Handler;
}
