/** Parameters that a handler reads and none of its paths has; the compiler refuses them, unless it was talked out of it. */
import type { Finding } from "../errors/diagnostic.js";
import { askedParameters } from "./asked-parameters.js";
import { titleOf } from "./descriptor.js";
import type { DraftRoute } from "./flat-route.js";
import type { AnyHandler } from "./handler.js";
import { Path } from "./path.js";

export function absentParameters(drafts: readonly DraftRoute[]): readonly Finding[] {
  return [...byHandler(drafts)].flatMap(([handler, own]) => {
    const known = new Set(own.flatMap(({ path }) => (path instanceof Path ? path.names : [])));
    const absent = askedParameters(handler).filter((name) => !known.has(name));
    return absent.map((name) => finding(name, own));
  });
}

/** A handler may serve several paths; those that are none tell nothing about their parameters. */
function byHandler(drafts: readonly DraftRoute[]): ReadonlyMap<AnyHandler, readonly DraftRoute[]> {
  const grouped = new Map<AnyHandler, DraftRoute[]>();
  for (const draft of drafts) {
    const group = grouped.get(draft.written) ?? [];
    group.push(draft);
    grouped.set(draft.written, group);
  }
  for (const [handler, group] of grouped) {
    if (group.some(({ path }) => !(path instanceof Path))) grouped.delete(handler);
  }
  return grouped;
}

function finding(name: string, own: readonly DraftRoute[]): Finding {
  const titles = own.map(({ descriptor }) => titleOf(descriptor)).join(" and ");
  return {
    code: "E_ROUTE_PARAM_ABSENT",
    what: `the handler asks for the parameter "${name}", which is not in ${titles}`,
    where: [...new Set(own.map(({ descriptor }) => descriptor.handler))].join(" and "),
    cure: `put {${name}} into the path, or read a parameter that it has`,
  };
}
