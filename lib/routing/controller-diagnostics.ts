/** What is wrong between a controller and its endpoints: handled by nobody, by two, in the wrong place, or where no instance can. */
import type { Diagnostic } from "../errors/diagnostic.js";
import { type AnyClass, type AnyEndpoint, titleOf, staticUsesOf, usesOf, type EndpointUse } from "./handler.js";
import { belongs, type Binding, controllerSource, type ControllerSource } from "./controller.js";
import { tableOf, type TableFacts } from "./endpoint-table.js";
import { joinPaths } from "./path.js";

export function controllerFindings(controller: AnyClass, bound: readonly Binding[]): readonly Diagnostic[] {
  const source = controllerSource(controller);
  if (source === undefined) return [missing(controller)];
  if ("unknown" in source) return [unknownSource(controller, source.unknown)];
  const table = "table" in source ? source.table : undefined;
  const ofTable = table === undefined ? [] : [...table.findings, ...tableFindings(controller, table, bound)];
  const ofPrefix = "prefix" in source && source.prefix.includes("{") ? [capturing(controller, source.prefix)] : [];
  return [...ofTable, ...ofPrefix, ...foreign(controller, source), ...statics(controller)];
}

function missing({ name }: AnyClass): Diagnostic {
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
    fix: "give it what routes() or resource() returned, or a path",
  };
}

function capturing({ name }: AnyClass, prefix: string): Diagnostic {
  const what = `the prefix "${prefix}" captures, and the URLs of the endpoints below it would not ask for that`;
  const fix = "give the controller a table, routes(name, prefix, …), or write the capture into its endpoints";
  return { code: "E_CONTROLLER_PREFIX", what, where: name, fix };
}

function tableFindings(controller: AnyClass, table: TableFacts, bound: readonly Binding[]): Diagnostic[] {
  return [...table.entries].flatMap(([key, entry]) => {
    const keys = bound.filter(({ endpoint }) => endpoint === entry).map((binding) => binding.key);
    if (keys.length === 1) return [];
    return [keys.length === 0 ? unhandled(controller, table, key, entry) : repeated(controller, table, key, keys)];
  });
}

function unhandled({ name }: AnyClass, table: TableFacts, key: string, entry: AnyEndpoint): Diagnostic {
  const what = `no method of ${name} handles ${titleOf(entry)}, "${key}" of the table "${table.name}"`;
  const fix = table.bindsByName
    ? `add a method ${key}(), or leave the action out with "except"`
    : `decorate a method with .${key} of the table, or remove the entry`;
  return { code: "E_ENDPOINT_UNHANDLED", what, where: name, fix };
}

function repeated(
  controller: AnyClass,
  table: TableFacts,
  key: string,
  keys: readonly (string | symbol)[],
): Diagnostic {
  const where = keys.map((each) => `${controller.name}.${String(each)}`).join(" and ");
  const what = `"${key}" of the table "${table.name}" is handled ${keys.length} times`;
  return { code: "E_ENDPOINT_REPEATED", what, where, fix: "leave it to one of them" };
}

function foreign(controller: AnyClass, source: ControllerSource): Diagnostic[] {
  const uses = usesOf(controller).filter(({ endpoint }) => !belongs(endpoint, source));
  return uses.map(({ endpoint, key }) => {
    const owner = tableOf(endpoint);
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
  return staticUsesOf(controller).map(({ endpoint, key }) => ({
    code: "E_HANDLER_STATIC",
    what: `${titleOf(endpoint)} stands on a static method, which has no instance`,
    where: `${controller.name}.${String(key)}`,
    fix: "make it a method of the instance",
  }));
}

/**
 * Endpoints written in place that two methods handle below different prefixes: `.url()` could mean either. A method that several
 * controllers inherit is one, and has a route below each of their prefixes; only its `.url()` is refused.
 */
interface Handled {
  readonly use: EndpointUse;
  readonly path: string;
  readonly handler: string;
}

export function sharedEndpoints(controllers: readonly AnyClass[]): readonly Diagnostic[] {
  const firsts = new Map<AnyEndpoint, Handled>();
  return controllers.flatMap(handledIn).flatMap((each) => {
    const { endpoint } = each.use;
    const first = firsts.get(endpoint) ?? each;
    firsts.set(endpoint, first);
    return first.use === each.use || first.path === each.path ? [] : [shared(endpoint, first, each)];
  });
}

function handledIn(controller: AnyClass): readonly Handled[] {
  const source = controllerSource(controller);
  if (source === undefined || !("prefix" in source)) return [];
  const { prefix } = source;
  return usesOf(controller)
    .filter(({ endpoint }) => tableOf(endpoint) === undefined)
    .map((use) => ({
      use,
      path: joinPaths(prefix, use.endpoint.path),
      handler: `${controller.name}.${String(use.key)}`,
    }));
}

function shared(endpoint: AnyEndpoint, first: Handled, second: Handled): Diagnostic {
  return {
    code: "E_ENDPOINT_SHARED",
    what: `${titleOf(endpoint)} is handled at ${first.path} and at ${second.path}, so its URL could be either`,
    where: `${first.handler} and ${second.handler}`,
    fix: "give each controller an endpoint of its own",
  };
}
