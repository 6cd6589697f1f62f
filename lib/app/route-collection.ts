/**
 * All routes of an application: those of its controllers, module by module, and those of the builder. It reads them before any instance
 * exists, so that `build()` finds every error and the container builds the middleware classes.
 */
import type { Container } from "../di/container.js";
import { moduleOf } from "../di/module.js";
import { bindingOf, type Binding } from "../di/provide.js";
import { nameOf } from "../di/token.js";
import { isClass, type Class } from "../runtime/class.js";
import type { Diagnostic, Warning } from "../errors/diagnostic.js";
import type { Layer } from "../http/middleware.js";
import { markListed, unlistedClasses } from "../di/unlisted.js";
import { sharedEndpoints } from "../routing/controller-diagnostics.js";
import { ControllerPlan, middlewareClasses } from "../routing/controller-routes.js";
import { titleOf } from "../endpoints/endpoint.js";
import type { BoundRoute } from "../routing/matcher.js";
import {
  isMiddleware,
  isMiddlewareClass,
  noMiddleware,
  type InstanceOf,
  type MiddlewareClass,
} from "../routing/middleware.js";
import { foreignPatterns, graphCollisions, healthCollisions } from "../routing/route-diagnostics.js";
import { bindRoute } from "../routing/router.js";
import { Routes } from "../routing/routes.js";
import { describeRoute, type GraphRoute } from "./graph.js";

/** The routes of one module; without a module, routes of the builder. */
interface Part {
  readonly module: Class | undefined;
  readonly routes: Routes;
}

export class RouteCollection {
  /** All routes in one collection: the value of `application.routes()`, and of `Routes` in a constructor. */
  readonly all = new Routes();
  private readonly parts: Part[] = [];
  private readonly moduleDiagnostics: Diagnostic[] = [];
  /** The modules that list a controller; the first of them has its routes. */
  private readonly listings = new Map<Class, Class[]>();
  /** The classes with endpoints that a module lists under `providers`. */
  private readonly provided = new Set<Class>();
  private container: Container | undefined;

  constructor(
    private readonly given: readonly Routes[],
    providers: readonly Binding[],
  ) {
    this.noteProvided(providers);
  }

  /** Reads a module's controllers, without a module the builder's routes. Gives the middleware classes that the module has to build. */
  classesOf(module: Class | undefined): readonly Class[] {
    // The container has its own diagnostic for a class that it cannot build, such as an abstract class.
    return (module === undefined ? this.readGiven() : this.readModule(module)) as readonly Class[];
  }

  findings(healthPaths: readonly string[], uagPath: string | undefined): readonly Diagnostic[] {
    const repeated = [...this.listings].filter(([, modules]) => modules.length > 1);
    return [
      ...this.moduleDiagnostics,
      ...repeated.map(([controller, modules]) => listedRepeatedly(controller, modules)),
      // A class builds objects.
      ...sharedEndpoints([...this.listings.keys()] as readonly Class<object>[]),
      ...this.all.diagnostics(),
      ...healthCollisions(this.all.flattened(), healthPaths),
      ...graphCollisions(this.all.flattened(), uagPath),
    ];
  }

  /** The mistakes that do not stop the application: of paths, of tables, and of controllers in the wrong list. */
  warnings(): readonly Warning[] {
    return [...foreignPatterns(this.all.flattened()), ...this.all.warnings(), ...this.underProviders()];
  }

  /** The controllers that no module of this process lists. Those under `providers` have a warning of their own. */
  unlistedControllers(): readonly Warning[] {
    const provided: ReadonlySet<unknown> = this.provided;
    const controllers = unlistedClasses("@Controller").filter((each) => !provided.has(each));
    if (controllers.length === 0) return [];
    const message = "a class has @Controller and no module lists it: its routes do not exist";
    const fix = "list the class under controllers of a module";
    return [{ message, fields: { controllers: controllers.map(nameOf), fix } }];
  }

  /** Gives the container that has the instances; the routes cannot change after this. */
  resolveWith(container: Container): void {
    this.container = container;
    this.all.seal((made) => this.instanceOf(undefined)(made));
  }

  /** @param guard innermost around each handler */
  boundRoutes(guard: Layer | undefined): readonly BoundRoute[] {
    const innermost = guard === undefined ? [] : [guard];
    return this.parts.flatMap(({ module, routes }) => {
      const instanceOf = this.instanceOf(module);
      return routes.served().map((route) => {
        const around = route.around.map((each) => (isMiddlewareClass(each) ? instanceOf(each) : each));
        return bindRoute(route, [...around, ...innermost]);
      });
    });
  }

  csrfExempt(): readonly string[] {
    const exempt = this.all.descriptors().filter(({ csrf }) => csrf === "exempt");
    return exempt.map(titleOf);
  }

  graphRoutes(): readonly GraphRoute[] {
    return this.parts.flatMap(({ module, routes }) => {
      const name = module === undefined ? "" : nameOf(module);
      return routes.served().map((route) => describeRoute(name, route));
    });
  }

  private readModule(module: Class): readonly MiddlewareClass[] {
    const { controllers = [], middleware = [], providers = [] } = moduleOf(module) ?? {};
    this.noteProvided(providers);
    // The container has its own diagnostic for a value that is not a class.
    const own = controllers.filter((controller) => isClass(controller) && this.isFirstListing(controller, module));
    const plans = own.map((controller) => ControllerPlan.of(controller as Class<object>));
    for (const { controller } of plans) markListed(controller);
    const around = middleware.filter(isMiddleware);
    const routes = new Routes(plans.map((plan) => plan.group(this.instanceOf(module)))).middleware(...around);
    this.add(module, routes);
    const invalid = middleware.filter((each) => !isMiddleware(each));
    this.moduleDiagnostics.push(
      ...invalid.map((each) => noMiddleware(each, `middleware of ${nameOf(module)}`)),
      ...plans.flatMap(({ diagnostics }) => diagnostics),
    );
    return plans.flatMap((plan) => plan.middlewareClasses);
  }

  private noteProvided(providers: readonly (Class | Binding)[]): void {
    for (const entry of providers) {
      const source = bindingOf(entry)?.source;
      if (source?.kind !== "class" || !isClass(source.implementation)) continue;
      if (ControllerPlan.isDecorated(source.implementation as Class<object>)) this.provided.add(source.implementation);
    }
  }

  private underProviders(): readonly Warning[] {
    const controllers = [...this.provided].filter((each) => !this.listings.has(each));
    if (controllers.length === 0) return [];
    const message =
      "a class with endpoints is listed under providers: its routes do not exist; list it under controllers";
    return [{ message, fields: { controllers: controllers.map(nameOf) } }];
  }

  private isFirstListing(controller: Class, module: Class): boolean {
    const modules = this.listings.get(controller);
    if (modules === undefined) this.listings.set(controller, [module]);
    else modules.push(module);
    return modules === undefined;
  }

  private readGiven(): readonly MiddlewareClass[] {
    for (const routes of this.given) this.add(undefined, routes);
    return middlewareClasses(this.given.flatMap((routes) => routes.flattened()).flatMap(({ around }) => around));
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

/** One diagnostic for the controller, instead of one for each of its routes. */
function listedRepeatedly(controller: Class, modules: readonly Class[]): Diagnostic {
  const names = [...new Set(modules.map(nameOf))].join(" and ");
  return {
    code: "E_CONTROLLER_REPEATED",
    what: `${nameOf(controller)} is listed ${modules.length} times as a controller, in ${names}`,
    where: `controllers of ${names}`,
    fix: "list it in one module; its routes exist once",
  };
}
