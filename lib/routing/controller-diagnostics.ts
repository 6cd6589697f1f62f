/**
 * The diagnostics of a controller and its endpoints: an entry without a method or with two, an endpoint of another table, a static method,
 * one endpoint below two prefixes.
 */
import { fromOtherCopy } from "../errors/copy.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { belongs, controllerSource, type ControllerSource } from "./controller.js";
import {
  decoratedMethods,
  decoratedStatics,
  titleOf,
  type Endpoint,
  type HandlerMethod,
} from "../endpoints/endpoint.js";
import { ownerOf, type Table } from "../endpoints/endpoint-table.js";
import type { AnyClass } from "../endpoints/handler.js";
import { joinPaths } from "../endpoints/path.js";

export function controllerDiagnostics(controller: AnyClass, methods: readonly HandlerMethod[]): readonly Diagnostic[] {
  const source = controllerSource(controller);
  if (source === undefined) return [missing(controller)];
  if ("unknown" in source) return [unknownSource(controller, source.unknown)];
  const table = "table" in source ? source.table : undefined;
  const ofTable = table === undefined ? [] : [...table.diagnostics, ...ofEntries(controller, table, methods)];
  const ofPrefix = "prefix" in source && source.prefix.includes("{") ? [capturing(controller, source.prefix)] : [];
  return [...ofTable, ...ofPrefix, ...foreign(controller, source), ...statics(controller)];
}

/**
 * Endpoints that two methods handle below different prefixes, so that `.url()` could mean either. A method that several controllers
 * inherit is one method with a route below each of their prefixes: only its `.url()` is refused.
 */
export function sharedEndpoints(controllers: readonly AnyClass[]): readonly Diagnostic[] {
  const firsts = new Map<Endpoint, MountedMethod>();
  return controllers.flatMap(mountedMethods).flatMap((each) => {
    const { endpoint } = each.method;
    const first = firsts.get(endpoint) ?? each;
    firsts.set(endpoint, first);
    return first.method === each.method || first.path === each.path ? [] : [shared(endpoint, first, each)];
  });
}

function missing(controller: AnyClass): Diagnostic {
  const { name } = controller;
  const other = fromOtherCopy(controller, name);
  if (other !== undefined) return other;
  const what = `${name} is listed as a controller and has no @Controller`;
  return {
    code: "E_CONTROLLER_MISSING",
    what,
    where: name,
    fix: `write @Controller(table) or @Controller("/prefix") above it`,
  };
}

function unknownSource({ name }: AnyClass, source: string): Diagnostic {
  const what = `@Controller(${source}) is given neither a prefix nor a table`;
  return {
    code: "E_CONTROLLER_SOURCE",
    what,
    where: name,
    fix: "give it the value of routes() or resource(), or a path",
  };
}

function capturing({ name }: AnyClass, prefix: string): Diagnostic {
  const what = `the prefix "${prefix}" has a capture, and the URLs of the endpoints below it would not ask for it`;
  const fix = "give the controller a table, routes(name, prefix, …), or write the capture into its endpoints";
  return { code: "E_CONTROLLER_PREFIX", what, where: name, fix };
}

function ofEntries(controller: AnyClass, table: Table, methods: readonly HandlerMethod[]): Diagnostic[] {
  return [...table.entries].flatMap(([key, entry]) => {
    const keys = methods.filter(({ endpoint }) => endpoint === entry).map((method) => method.key);
    if (keys.length === 1) return [];
    return [keys.length === 0 ? unhandled(controller, table, key, entry) : repeated(controller, table, key, keys)];
  });
}

function unhandled({ name }: AnyClass, table: Table, key: string, entry: Endpoint): Diagnostic {
  const what = `no method of ${name} handles ${titleOf(entry)}, "${key}" of the table "${table.name}"`;
  const fix = table.isHandledByName
    ? `add a method ${key}(), or leave the action out with "except"`
    : `decorate a method with .${key} of the table, or remove the entry`;
  return { code: "E_ENDPOINT_UNHANDLED", what, where: name, fix };
}

function repeated(controller: AnyClass, table: Table, key: string, keys: readonly (string | symbol)[]): Diagnostic {
  const where = keys.map((each) => `${controller.name}.${String(each)}`).join(" and ");
  const what = `"${key}" of the table "${table.name}" is handled ${keys.length} times`;
  return { code: "E_ENDPOINT_REPEATED", what, where, fix: "let one method handle it" };
}

function foreign(controller: AnyClass, source: ControllerSource): Diagnostic[] {
  const methods = decoratedMethods(controller).filter(({ endpoint }) => !belongs(endpoint, source));
  return methods.map(({ endpoint, key }) => {
    const owner = ownerOf(endpoint);
    const where = `${controller.name}.${String(key)}`;
    const title = titleOf(endpoint);
    if (owner === undefined) {
      const fix = "make it an entry of the table, or move the method to a controller with a prefix";
      return { code: "E_ENDPOINT_FOREIGN", what: `${title} is not an entry of the controller's table`, where, fix };
    }
    const fix = `move the method to the controller that is given the table "${owner.name}"`;
    return { code: "E_ENDPOINT_FOREIGN", what: `${title} is an entry of another table, "${owner.name}"`, where, fix };
  });
}

function statics(controller: AnyClass): Diagnostic[] {
  return decoratedStatics(controller).map(({ endpoint, key }) => ({
    code: "E_HANDLER_STATIC",
    what: `${titleOf(endpoint)} decorates a static method, which has no instance`,
    where: `${controller.name}.${String(key)}`,
    fix: "make it a method of the instance",
  }));
}

/** A decorated method below the prefix of a controller. */
interface MountedMethod {
  readonly method: HandlerMethod;
  readonly path: string;
  readonly title: string;
}

function mountedMethods(controller: AnyClass): readonly MountedMethod[] {
  const source = controllerSource(controller);
  if (source === undefined || !("prefix" in source)) return [];
  const methods = decoratedMethods(controller).filter(({ endpoint }) => ownerOf(endpoint) === undefined);
  return methods.map((method) => ({
    method,
    path: joinPaths(source.prefix, method.endpoint.path),
    title: `${controller.name}.${String(method.key)}`,
  }));
}

function shared(endpoint: Endpoint, first: MountedMethod, second: MountedMethod): Diagnostic {
  return {
    code: "E_ENDPOINT_SHARED",
    what: `${titleOf(endpoint)} is handled at ${first.path} and at ${second.path}, so its URL could be either`,
    where: `${first.title} and ${second.title}`,
    fix: "give each controller an endpoint of its own",
  };
}
