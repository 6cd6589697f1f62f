/**
 * All routes of an application: those of its controllers, module by module, and those the builder was given. Read before anything is
 * built, so that faults are found and the middleware classes are known to the container.
 */
import { isClass, type Class, nameOf } from "../di/token.js";
import type { Container } from "../di/container.js";
import { moduleOf } from "../di/module.js";
import { middlewareName } from "../http/middleware.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { ControllerPlan, middlewareClasses } from "../routing/controller-routes.js";
import type { Destination } from "../routing/router.js";
import {
  type InstanceOf,
  isMiddleware,
  isMiddlewareClass,
  noMiddleware,
  type MiddlewareClass,
} from "../routing/middleware.js";
import { collisions } from "../routing/route-diagnostics.js";
import { Routes } from "../routing/routes.js";
import { sharedEndpoints } from "../routing/controller-diagnostics.js";
import type { RouteOrigin } from "./graph.js";

/** The routes of one module, or (without a module) of the builder. */
interface Part {
  readonly module: Class | undefined;
  readonly routes: Routes;
}

export class RouteCollection {
  /** Everything in one collection, as `application.routes()` and `Routes` in a constructor. */
  readonly all = new Routes();
  private readonly parts: Part[] = [];
  private readonly moduleFindings: Diagnostic[] = [];
  /** The modules that list a controller; the first of them has its routes. */
  private readonly listings = new Map<Class, Class[]>();
  private container: Container | undefined;

  constructor(private readonly given: readonly Routes[]) {}

  /** Reads a module's controllers; answers the middleware classes that have to be built in it. `undefined`: the builder's. */
  classesOf(module: Class | undefined): readonly Class[] {
    // The container refuses what cannot be built, an abstract class too, by its own finding.
    return (module === undefined ? this.readGiven() : this.readModule(module)) as readonly Class[];
  }

  findings(healthPaths: readonly string[]): readonly Diagnostic[] {
    const repeated = [...this.listings].filter(([, modules]) => modules.length > 1);
    return [
      ...this.moduleFindings,
      ...repeated.map(([controller, modules]) => listedRepeatedly(controller, modules)),
      // What is built from a class is an object.
      ...sharedEndpoints([...this.listings.keys()] as readonly Class<object>[]),
      ...this.all.findings(),
      ...collisions(this.all.flattened(), healthPaths),
    ];
  }

  /** From now on classes are instances. */
  resolveWith(container: Container): void {
    this.container = container;
    this.all.seal((made) => this.instanceOf(undefined)(made));
  }

  boundRoutes(): readonly Destination[] {
    return this.parts.flatMap(({ module, routes }) => {
      const instanceOf = this.instanceOf(module);
      return routes.served().map(({ method, path, handler, middleware }) => ({
        method,
        path,
        handler,
        middleware: middleware.map((each) => (isMiddlewareClass(each) ? instanceOf(each) : each)),
      }));
    });
  }

  graphRoutes(): readonly RouteOrigin[] {
    return this.parts.flatMap(({ module, routes }) =>
      routes.served().map(({ descriptor, path, middleware }) => ({
        module: module === undefined ? "" : nameOf(module),
        descriptor,
        params: path.names,
        middleware: middleware.map(middlewareName),
      })),
    );
  }

  private readModule(module: Class): readonly MiddlewareClass[] {
    const { controllers = [], middleware = [] } = moduleOf(module) ?? {};
    // What is no class, the container finds.
    const own = controllers.filter((controller) => isClass(controller) && this.isFirstListing(controller, module));
    const plans = own.map((controller) => ControllerPlan.of(controller as Class<object>));
    const around = middleware.filter(isMiddleware);
    const routes = new Routes(plans.map((plan) => plan.group(this.instanceOf(module)))).middleware(...around);
    this.add(module, routes);
    const strange = middleware.filter((each) => !isMiddleware(each));
    this.moduleFindings.push(
      ...strange.map((each) => noMiddleware(each, `middleware of ${nameOf(module)}`)),
      ...plans.flatMap(({ findings }) => findings),
    );
    return plans.flatMap((plan) => plan.middlewareClasses);
  }

  private isFirstListing(controller: Class, module: Class): boolean {
    const modules = this.listings.get(controller);
    if (modules === undefined) this.listings.set(controller, [module]);
    else modules.push(module);
    return modules === undefined;
  }

  private readGiven(): readonly MiddlewareClass[] {
    for (const routes of this.given) this.add(undefined, routes);
    return middlewareClasses(
      this.given.flatMap((routes) => routes.flattened()).flatMap(({ middleware }) => middleware),
    );
  }

  private add(module: Class | undefined, routes: Routes): void {
    this.parts.push({ module, routes });
    this.all.merge(routes);
  }

  private instanceOf(module: Class | undefined): InstanceOf {
    return (made) => {
      if (this.container === undefined) throw new Error("an instance was asked for before the container was built");
      const scope = module === undefined ? this.container : this.container.in(module);
      return scope.get(made);
    };
  }
}

/** One fault, and not one for each of its routes. */
function listedRepeatedly(controller: Class, modules: readonly Class[]): Diagnostic {
  const names = [...new Set(modules.map(nameOf))].join(" and ");
  return {
    code: "E_CONTROLLER_REPEATED",
    what: `${nameOf(controller)} is listed ${modules.length} times as a controller, in ${names}`,
    where: `controllers of ${names}`,
    fix: "list it in one module; its routes exist once",
  };
}
