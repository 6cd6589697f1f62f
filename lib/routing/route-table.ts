/** All routes of a collection at one moment: those that can be served, their names, and what is wrong with them. */
import { NotFoundError } from "../errors/framework-error.js";
import type { Finding } from "../errors/diagnostic.js";
import type { DraftRoute, FlatRoute } from "./flat-route.js";
import { Path } from "./path.js";
import type { PathParameter } from "./path-types.js";
import { findingsOf } from "./route-findings.js";

export class RouteTable {
  readonly routes: readonly FlatRoute[];
  private readonly templates: ReadonlyMap<string, string>;

  constructor(private readonly drafts: readonly DraftRoute[]) {
    this.routes = Object.freeze(drafts.filter(isFlat).map((route) => Object.freeze(route)));
    this.templates = templatesOf(drafts);
  }

  get findings(): readonly Finding[] {
    return findingsOf(this.drafts);
  }

  urlFor(name: string, params: readonly PathParameter[]): string {
    const template = this.templates.get(name);
    if (template !== undefined) return Path.of(template).fill(params);
    throw new NotFoundError(`no route is named "${name}"`, { code: "E_ROUTE_NAME" });
  }

  named(): readonly (readonly [string, string])[] {
    return [...this.templates].toSorted(([left], [right]) => (left < right ? -1 : 1));
  }
}

/** The first route of a name has it; a second one is a finding. */
function templatesOf(drafts: readonly DraftRoute[]): ReadonlyMap<string, string> {
  const templates = new Map<string, string>();
  for (const { descriptor } of drafts) {
    const { name, path } = descriptor;
    if (name !== undefined && !templates.has(name)) templates.set(name, path);
  }
  return templates;
}

function isFlat(draft: DraftRoute): draft is DraftRoute & FlatRoute {
  return draft.path instanceof Path;
}
