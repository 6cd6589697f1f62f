/**
 * The diagnostics of a controller and its endpoints: an entry without a method or with two, an endpoint of another table, one
 * endpoint below two prefixes.
 */
import { findForeignCopy } from "../errors/copy.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { findModuleDefinition } from "../di/module.js";
import { belongs, findControllerSource, type ControllerSource } from "./controller.js";
import { getDecoratedMethods, formatRoute, type AnyEndpoint, type HandlerMethod } from "../endpoints/endpoint.js";
import { findTableOfEntry, type Table } from "../endpoints/endpoint-table.js";
import type { AnyClass } from "../endpoints/handler.js";
import { joinPaths } from "../endpoints/filled-path.js";

export function diagnoseController(controller: AnyClass, methods: readonly HandlerMethod[]): readonly Diagnostic[] {
  // The container reports it, as it does for every class.
  if (findForeignCopy(controller, "") !== undefined) return [];
  const source = findControllerSource(controller);
  if (source === undefined) return [describeMissing(controller)];
  if ("unknown" in source) return [describeUnknownSource(controller, source.unknown)];
  const tables = "tables" in source ? source.tables : [];
  const tableDiagnostics = tables.flatMap((table) => [
    ...table.diagnostics,
    ...diagnoseEntries(controller, table, methods),
  ]);
  const prefixDiagnostics =
    "prefix" in source && source.prefix.includes("{") ? [describeCapturingPrefix(controller, source.prefix)] : [];
  return [
    ...tableDiagnostics,
    ...prefixDiagnostics,
    ...findForeignEndpoints(controller, source),
    ...findReplacedMethods(controller, source, methods),
  ];
}

/** Finds methods whose entry is handled by another method in each of the tables, because that one is decorated with the prefixed entry. */
function findReplacedMethods(
  controller: AnyClass,
  source: ControllerSource,
  methods: readonly HandlerMethod[],
): readonly Diagnostic[] {
  const handling = new Set(methods.map(({ key }) => key));
  const unused = getDecoratedMethods(controller).filter(
    ({ endpoint, key }) => belongs(endpoint, source) && !handling.has(key),
  );
  return unused.map(({ endpoint, key }) => ({
    code: "E_ENDPOINT_UNROUTED",
    what: `${controller.name}.${String(key)} handles no route: other methods are decorated with the entries that "prefix" has made of ${formatRoute(endpoint)}`,
    where: `${controller.name}.${String(key)}`,
    fix: "remove the method, or give its table to the controller too",
  }));
}

/**
 * Finds endpoints that two methods handle below different prefixes, so that `.url()` could mean either. A method that several controllers
 * inherit is one method with a route below each of their prefixes: only its `.url()` is refused.
 */
export function findSharedEndpoints(controllers: readonly AnyClass[]): readonly Diagnostic[] {
  const firsts = new Map<AnyEndpoint, MountedMethod>();
  return controllers.flatMap(listMountedMethods).flatMap((each) => {
    const { endpoint } = each.method;
    const first = firsts.get(endpoint) ?? each;
    firsts.set(endpoint, first);
    return first.method === each.method || first.path === each.path ? [] : [describeShared(endpoint, first, each)];
  });
}

/** @param target a module or a middleware class */
export function describeUnroutedEndpoints(target: AnyClass): Diagnostic {
  const role = findModuleDefinition(target) === undefined ? "middleware" : "a module";
  return {
    code: "E_ENDPOINT_UNROUTED",
    what: `${target.name} is ${role} and has endpoints above its methods, whose routes do not exist`,
    where: target.name,
    fix: "move these methods to a controller, and list it under controllers of a module",
  };
}

function describeMissing(controller: AnyClass): Diagnostic {
  const name = controller.name || "an anonymous class";
  const what = `${name} is listed as a controller and has no @Controller`;
  return {
    code: "E_CONTROLLER_MISSING",
    what,
    where: name,
    fix: `write @Controller(table) or @Controller("/prefix") above it`,
  };
}

function describeUnknownSource({ name }: AnyClass, source: string): Diagnostic {
  const what = `@Controller(${source}) is given neither a prefix nor a table`;
  return {
    code: "E_CONTROLLER_SOURCE",
    what,
    where: name,
    fix: "give it the value of routes() or resource(), or a path",
  };
}

function describeCapturingPrefix({ name }: AnyClass, prefix: string): Diagnostic {
  const what = `the prefix "${prefix}" has a capture, and the URLs of the endpoints below it would not ask for it`;
  const fix = "give the controller a table, routes(name, prefix, …), or write the capture into its endpoints";
  return { code: "E_CONTROLLER_PREFIX", what, where: name, fix };
}

function diagnoseEntries(controller: AnyClass, table: Table, methods: readonly HandlerMethod[]): Diagnostic[] {
  return [...table.entries].flatMap(([key, entry]) => {
    const keys = methods.filter(({ endpoint }) => endpoint === entry).map((method) => method.key);
    if (keys.length === 1) return [];
    return [
      keys.length === 0
        ? describeUnhandled(controller, table, key, entry)
        : describeRepeated(controller, table, key, keys),
    ];
  });
}

function describeUnhandled({ name }: AnyClass, table: Table, key: string, entry: AnyEndpoint): Diagnostic {
  const what = `no method of ${name} handles ${formatRoute(entry)}, "${key}" of the table "${table.name}"`;
  const fix = table.isHandledByName
    ? `add a method ${key}(), or leave the action out with "except"`
    : `decorate a method with .${key} of the table, or remove the entry; one controller handles all entries of a table`;
  return { code: "E_ENDPOINT_UNHANDLED", what, where: name, fix };
}

function describeRepeated(
  controller: AnyClass,
  table: Table,
  key: string,
  keys: readonly (string | symbol)[],
): Diagnostic {
  const where = keys.map((each) => `${controller.name}.${String(each)}`).join(" and ");
  const what = `"${key}" of the table "${table.name}" is handled ${keys.length} times`;
  return { code: "E_ENDPOINT_REPEATED", what, where, fix: "let one method handle it" };
}

const ONE_TABLE =
  "decorate the method with the table of the controller; a module that two import specifiers name is loaded twice: name it by one";

function findForeignEndpoints(controller: AnyClass, source: ControllerSource): Diagnostic[] {
  const methods = getDecoratedMethods(controller).filter(({ endpoint }) => !belongs(endpoint, source));
  return methods.map(({ endpoint, key }) => {
    const table = findTableOfEntry(endpoint);
    const where = `${controller.name}.${String(key)}`;
    const title = formatRoute(endpoint);
    if (table === undefined) {
      const fix = "make it an entry of the table, or move the method to a controller with a prefix";
      return { code: "E_ENDPOINT_FOREIGN", what: `${title} is not an entry of the controller's table`, where, fix };
    }
    if ("tables" in source && source.tables.some(({ name }) => name === table.name))
      return {
        code: "E_ENDPOINT_FOREIGN",
        what: `${title} is an entry of a second table "${table.name}"`,
        where,
        fix: ONE_TABLE,
      };
    const fix = `move the method to the controller that is given the table "${table.name}"`;
    return { code: "E_ENDPOINT_FOREIGN", what: `${title} is an entry of another table, "${table.name}"`, where, fix };
  });
}

/** A decorated method below the prefix of a controller. */
interface MountedMethod {
  readonly method: HandlerMethod;
  readonly path: string;
  readonly title: string;
}

function listMountedMethods(controller: AnyClass): readonly MountedMethod[] {
  const source = findControllerSource(controller);
  if (source === undefined || !("prefix" in source)) return [];
  const methods = getDecoratedMethods(controller).filter(({ endpoint }) => findTableOfEntry(endpoint) === undefined);
  return methods.map((method) => ({
    method,
    path: joinPaths(source.prefix, method.endpoint.path),
    title: `${controller.name}.${String(method.key)}`,
  }));
}

function describeShared(endpoint: AnyEndpoint, first: MountedMethod, second: MountedMethod): Diagnostic {
  return {
    code: "E_ENDPOINT_SHARED",
    what: `${formatRoute(endpoint)} is handled at ${first.path} and at ${second.path}, so its URL could be either`,
    where: `${first.title} and ${second.title}`,
    fix: "give each controller a separate endpoint",
  };
}
