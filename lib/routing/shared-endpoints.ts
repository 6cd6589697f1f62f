/**
 * Endpoints written in place that two methods handle below different prefixes: `.url()` could mean either. A method that several
 * controllers inherit is one, and has a route below each of their prefixes; only its `.url()` is refused.
 */
import type { Finding } from "../errors/diagnostic.js";
import type { AnyClass, AnyEndpoint } from "./any-endpoint.js";
import { controllerSource } from "./controller.js";
import { titleOf } from "./descriptor.js";
import { tableOf } from "./endpoint-table.js";
import { usesOf, type EndpointUse } from "./endpoint-use.js";
import { joinPaths } from "./join-paths.js";

interface Handled {
  readonly use: EndpointUse;
  readonly path: string;
  readonly handler: string;
}

export function sharedEndpoints(controllers: readonly AnyClass[]): readonly Finding[] {
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

function shared(endpoint: AnyEndpoint, first: Handled, second: Handled): Finding {
  return {
    code: "E_ENDPOINT_SHARED",
    what: `${titleOf(endpoint)} is handled at ${first.path} and at ${second.path}, so its URL could be either`,
    where: `${first.handler} and ${second.handler}`,
    cure: "give each controller an endpoint of its own",
  };
}
