/**
 * Finds middleware that is around no route: above a method that handles no endpoint, above a class that is no controller, or of a module
 * without controllers. It reads as protection and is none.
 */
import { getMiddlewareName } from "../http/middleware.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import type { Class } from "../runtime/class.js";
import { getClassChain, type AnyClass } from "../endpoints/handler.js";
import { findModuleDefinition } from "../di/module.js";
import { describeToken } from "../di/token.js";
import { findControllerSource, getHandlerMethods } from "./controller.js";
import { getClassMiddleware, listMethodsWithMiddleware, type MiddlewareInput } from "./middleware.js";

/**
 * @param controllers those that modules list
 * @param others classes without endpoints: providers, modules, middleware
 */
export function findUnroutedMiddleware(
  controllers: readonly AnyClass[],
  others: readonly AnyClass[],
): readonly Diagnostic[] {
  const complete = controllers.filter((each) => findControllerSource(each) !== undefined);
  const bases = new Set(controllers.flatMap(getClassChain));
  const plain = others.filter((each) => !bases.has(each));
  const routed = listRoutedKeys(complete);
  const holders = new Set([...complete, ...plain].flatMap(getClassChain));
  return [
    ...[...holders].flatMap((holder) =>
      listMethodsWithMiddleware(holder.prototype)
        .filter((key) => routed.get(holder)?.has(key) !== true)
        .map((key) => describeMethod(holder, key)),
    ),
    ...plain.filter((each) => getClassMiddleware(each).length > 0).map(describeClass),
  ];
}

export function describeUnroutedModule(middleware: readonly MiddlewareInput[], module: Class): Diagnostic {
  const name = describeToken(module);
  return {
    code: "E_MIDDLEWARE_UNROUTED",
    what: `the middleware of ${name}, ${middleware.map(getMiddlewareName).join(", ")}, is around no route: the module lists no controllers`,
    where: `middleware of ${name}`,
    fix: "write it into each module that lists controllers, because it is around their routes alone; or add it with .layer(…)",
  };
}

/** The names of the methods that handle endpoints, for each controller and each class that it extends. */
function listRoutedKeys(controllers: readonly AnyClass[]): ReadonlyMap<AnyClass, ReadonlySet<string | symbol>> {
  const routed = new Map<AnyClass, Set<string | symbol>>();
  for (const controller of controllers) {
    const keys = getHandlerMethods(controller).map(({ key }) => key);
    for (const each of getClassChain(controller)) routed.set(each, new Set([...(routed.get(each) ?? []), ...keys]));
  }
  return routed;
}

function describeMethod({ name }: AnyClass, key: string | symbol): Diagnostic {
  return {
    code: "E_MIDDLEWARE_UNROUTED",
    what: "@Middleware stands above a method that handles no endpoint, so it is around no route",
    where: `${name}.${String(key)}`,
    fix: "write the endpoint above the method too, or move @Middleware to the method that handles it",
  };
}

function describeClass(target: AnyClass): Diagnostic {
  const { name } = target;
  if (findModuleDefinition(target) !== undefined) return describeAboveModule(name, getClassMiddleware(target));
  return {
    code: "E_MIDDLEWARE_UNROUTED",
    what: "@Middleware stands above a class that is no controller, so it is around no route",
    where: name,
    fix: "write it above the controller, or list the class under controllers",
  };
}

function describeAboveModule(name: string, middleware: readonly MiddlewareInput[]): Diagnostic {
  return {
    code: "E_MIDDLEWARE_UNROUTED",
    what: `@Middleware stands above the module ${name}, where it is around no route`,
    where: name,
    fix: `write middleware: [${middleware.map(getMiddlewareName).join(", ")}] into its @Module`,
  };
}
