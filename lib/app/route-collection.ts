/**
 * All routes of an application: those of its controllers, module by module, and those of the builder. It reads them before any instance
 * exists, so that `build()` finds every error and the container builds the middleware classes.
 */
import type { Container } from "../di/container.js";
import { findModuleDefinition } from "../di/module.js";
import { toBinding, type Binding } from "../di/provide.js";
import { describeToken } from "../di/token.js";
import { isClass, type Class } from "../runtime/class.js";
import type { Diagnostic, Warning } from "../errors/diagnostic.js";
import type { Layer } from "../http/middleware.js";
import { markListed, findUnlistedClasses } from "../di/unlisted.js";
import { describeUnroutedEndpoints, findSharedEndpoints } from "../routing/controller-diagnostics.js";
import { describeUnroutedModule, findUnroutedMiddleware } from "../routing/unrouted-middleware.js";
import { findGuardsOnController } from "../contracts/guards.js";
import { ControllerPlan, listMiddlewareClasses } from "../routing/controller-routes.js";
import { formatRoute } from "../endpoints/endpoint.js";
import type { BoundRoute } from "../routing/matcher.js";
import {
  isMiddleware,
  isMiddlewareClass,
  describeInvalidMiddleware,
  type GetInstance,
  type MiddlewareClass,
  type MiddlewareInput,
} from "../routing/middleware.js";
import { findForeignPatterns, findGraphCollisions, findHealthCollisions } from "../routing/route-diagnostics.js";
import type { TableRow } from "../routing/route-table.js";
import { listAcceptedQueries } from "../routing/route-headers.js";
import { bindRoute } from "../routing/router.js";
import { Routes } from "../routing/routes.js";
import type { ContractSettings } from "../contracts/contract-plan.js";
import { ContractCollection } from "../contracts/contract-collection.js";
import { describeRoute, type GraphInput } from "./graph/graph.js";

/** The routes of one module; without a module, routes of the builder. */
interface ModuleRoutes {
  readonly module: Class | undefined;
  readonly routes: Routes;
}

export class RouteCollection {
  /** All routes in one collection: the value of `application.routes()`, and of `Routes` in a constructor. */
  readonly all = new Routes();
  private readonly parts: ModuleRoutes[] = [];
  private readonly moduleDiagnostics: Diagnostic[] = [];
  /** The modules that list a controller; the first of them has its routes. */
  private readonly listings = new Map<Class, Class[]>();
  /** The classes with endpoints that a module lists under `providers`. */
  private readonly provided = new Set<Class>();
  /** The classes without endpoints that the container builds, controllers excepted. */
  private readonly builtClasses = new Set<Class<object>>();
  /** The modules and the middleware classes with endpoints. */
  private readonly unrouted = new Set<Class<object>>();
  private container: Container | undefined;
  private contracts = new ContractCollection([]);

  constructor(
    private readonly given: readonly Routes[],
    providers: readonly Binding[],
    private readonly layers: readonly MiddlewareInput[],
  ) {
    this.addProvided(providers);
  }

  /** Reads a module's controllers, without a module the builder's routes and layers. Returns the middleware classes that the module has to build. */
  readClasses(module: Class | undefined): readonly Class[] {
    // The container reports a class that it cannot build, such as an abstract class.
    return (module === undefined ? this.readGiven() : this.readModule(module)) as readonly Class[];
  }

  check(healthPaths: readonly string[], uagPath: string | undefined): readonly Diagnostic[] {
    this.contracts = new ContractCollection(this.all.flatten());
    const repeated = [...this.listings].filter(([, modules]) => modules.length > 1);
    // A class builds objects.
    const controllers = [...this.listings.keys()] as readonly Class<object>[];
    return [
      ...this.moduleDiagnostics,
      ...repeated.map(([controller, modules]) => listedRepeatedly(controller, modules)),
      ...findSharedEndpoints(controllers),
      ...controllers.flatMap(findGuardsOnController),
      ...findUnroutedMiddleware(controllers, [...this.builtClasses]),
      ...[...this.unrouted].filter((each) => !this.listings.has(each)).map(describeUnroutedEndpoints),
      ...this.all.diagnostics(),
      ...this.contracts.diagnostics,
      ...findHealthCollisions(this.all.flatten(), healthPaths),
      ...findGraphCollisions(this.all.flatten(), uagPath),
    ];
  }

  /** The mistakes that do not stop the application: of paths, of tables, and of controllers in the wrong list. */
  warnings(): readonly Warning[] {
    return [
      ...findForeignPatterns(this.all.flatten()),
      ...this.all.warnings(),
      ...this.contracts.warnings,
      ...this.warnOfMisplacedControllers(),
    ];
  }

  /** Warns of the controllers that no module of this process lists, except those under `providers`, which have another warning. */
  warnOfUnlistedControllers(): readonly Warning[] {
    const provided: ReadonlySet<unknown> = this.provided;
    const controllers = findUnlistedClasses("@Controller").filter((each) => !provided.has(each));
    if (controllers.length === 0) return [];
    const message = "a class has @Controller and no module lists it: its routes do not exist";
    const fix = "list the class under controllers of a module";
    return [{ message, fields: { controllers: controllers.map(describeToken), fix } }];
  }

  /**
   * Fixes the routes, with the instances of this container, and fills the table of @koa/router with them. Returns the faults of the guards
   * among the instances; with a fault nothing is fixed.
   */
  resolveWith(container: Container, settings: ContractSettings): readonly Diagnostic[] {
    this.container = container;
    const diagnostics = this.contracts.resolveProviders(container.provided(), settings);
    if (diagnostics.length === 0) this.all.seal(this.parts.flatMap((part) => this.listRows(part)));
    return diagnostics;
  }

  /** The diagnostics for an application without a reader of uploads. */
  checkUploads(): readonly Diagnostic[] {
    return this.contracts.checkUploads();
  }

  /** @param guard innermost around each handler */
  boundRoutes(guard: Layer | undefined): readonly BoundRoute[] {
    const innermost = guard === undefined ? [] : [guard];
    const rows = this.all.listRows();
    const acceptedQueries = listAcceptedQueries(rows);
    return rows.map(({ route, getInstance, contract }) => {
      const around = route.around.map((each) => (isMiddlewareClass(each) ? getInstance(each) : each));
      return bindRoute(route, [...around, ...innermost], contract, acceptedQueries.get(route.path.shape));
    });
  }

  csrfExempt(): readonly string[] {
    const exempt = this.all.descriptors().filter(({ csrf }) => csrf === "exempt");
    return exempt.map(formatRoute);
  }

  graphRoutes(): GraphInput["routes"] {
    return this.parts.flatMap(({ module, routes }) => {
      const name = module === undefined ? "" : describeToken(module);
      return routes.listRows().map(({ route }) => describeRoute(name, route));
    });
  }

  private readModule(module: Class): readonly MiddlewareClass[] {
    const { controllers = [], middleware = [], providers = [] } = findModuleDefinition(module) ?? {};
    this.addProvided(providers);
    // The container reports a value that is not a class.
    const firstListed = controllers.filter(
      (controller) => isClass(controller) && this.isFirstListing(controller, module),
    );
    const plans = firstListed.map((controller) => ControllerPlan.of(controller as Class<object>));
    for (const { controller } of plans) markListed(controller);
    const around = middleware.filter(isMiddleware);
    const routes = new Routes(plans.map((plan) => plan.group(this.createInstanceGetter(module)))).middleware(...around);
    this.add(module, routes);
    const classes = plans.flatMap((plan) => plan.middlewareClasses);
    this.addBuilt([module, ...listMiddlewareClasses(around), ...classes]);
    const invalid = middleware.filter((each) => !isMiddleware(each));
    this.moduleDiagnostics.push(
      ...invalid.map((each) => describeInvalidMiddleware(each, `middleware of ${describeToken(module)}`)),
      ...plans.flatMap(({ diagnostics }) => diagnostics),
      ...(around.length > 0 && controllers.length === 0 ? [describeUnroutedModule(around, module)] : []),
    );
    return classes;
  }

  /** @param classes modules and middleware classes */
  private addBuilt(classes: readonly (Class | MiddlewareClass)[]): void {
    // A class builds objects.
    for (const each of classes as readonly Class<object>[])
      (ControllerPlan.isDecorated(each) ? this.unrouted : this.builtClasses).add(each);
  }

  private addProvided(providers: readonly (Class | Binding)[]): void {
    for (const entry of providers) {
      const source = toBinding(entry)?.source;
      if (source?.kind !== "class" || !isClass(source.implementation)) continue;
      // A class builds objects.
      const implementation = source.implementation as Class<object>;
      if (ControllerPlan.isDecorated(implementation)) this.provided.add(implementation);
      else this.builtClasses.add(implementation);
    }
  }

  private warnOfMisplacedControllers(): readonly Warning[] {
    const controllers = [...this.provided].filter((each) => !this.listings.has(each));
    if (controllers.length === 0) return [];
    const message =
      "a class with endpoints is listed under providers: its routes do not exist; list it under controllers";
    return [{ message, fields: { controllers: controllers.map(describeToken) } }];
  }

  private isFirstListing(controller: Class, module: Class): boolean {
    const modules = this.listings.get(controller);
    if (modules === undefined) this.listings.set(controller, [module]);
    else modules.push(module);
    return modules === undefined;
  }

  private readGiven(): readonly MiddlewareClass[] {
    for (const routes of this.given) this.add(undefined, routes);
    const around = this.given.flatMap((routes) => routes.flatten()).flatMap((route) => route.around);
    const classes = listMiddlewareClasses([...around, ...this.layers]);
    this.addBuilt(classes);
    return classes;
  }

  private add(module: Class | undefined, routes: Routes): void {
    this.parts.push({ module, routes });
    this.all.merge(routes);
  }

  private listRows({ module, routes }: ModuleRoutes): readonly TableRow[] {
    const getInstance = this.createInstanceGetter(module);
    return routes.flatten().map((route) => ({ route, getInstance, contract: this.contracts.find(route) }));
  }

  private createInstanceGetter(module: Class | undefined): GetInstance {
    return (middlewareClass) => {
      if (this.container === undefined) throw new Error("an instance was asked for before the container was built");
      const scope = module === undefined ? this.container : this.container.in(module);
      return scope.get(middlewareClass);
    };
  }
}

/** One diagnostic for the controller, instead of one for each of its routes. */
function listedRepeatedly(controller: Class, modules: readonly Class[]): Diagnostic {
  const names = [...new Set(modules.map(describeToken))].join(" and ");
  return {
    code: "E_CONTROLLER_REPEATED",
    what: `${describeToken(controller)} is listed ${modules.length} times as a controller, in ${names}`,
    where: `controllers of ${names}`,
    fix: "list it in one module; its routes exist once",
  };
}
