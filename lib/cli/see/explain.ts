/**
 * `stagecraft explain METHOD PATH`: what the application does with a request. The route that handles it and those that do not, its guards
 * and middleware, each stage on or off with the line of the program that says so, and the statuses with which it may be refused. Exit code 1
 * if no route handles it.
 */
import type { GraphRoute } from "../../app/graph/graph.js";
import { Health } from "../../stages/health.js";
import type { RouteDescriptor } from "../../routing/route.js";
import { loadApplication, type LoadedApplication } from "../application/load-application.js";
import { UsageError, type CommandContext, type ExitCode } from "../command.js";
import { formatColumns } from "../text-table.js";
import { explainStages, type ExplainedStage } from "./explained-stages.js";
import { findNearest, matchRoutes, type Candidate, type ExplainedRequest } from "./matched-routes.js";
import { listRefusals, type PossibleRefusal } from "./refusals.js";
import { writeJson } from "./given-file.js";

export interface Explanation {
  readonly method: string;
  readonly path: string;
  /** The path is one of the health endpoints, which no other stage sees. */
  readonly isHealth: boolean;
  readonly route:
    | (Pick<GraphRoute, "module" | "handler" | "guards" | "middleware" | "policies"> &
        Pick<RouteDescriptor, "method" | "path" | "name">)
    | null;
  readonly considered: readonly Candidate[];
  /** The route whose path is most alike, where none matches. */
  readonly nearest: string | null;
  readonly stages: readonly ExplainedStage[];
  readonly refusals: readonly PossibleRefusal[];
}

export async function explain(request: ExplainedRequest, context: CommandContext): Promise<ExitCode> {
  const path = request.path.split(/[?#]/, 1)[0] ?? "";
  const method = request.method.toUpperCase();
  if (!path.startsWith("/") || !/^[A-Z-]+$/.test(method))
    throw new UsageError(`${request.method} ${request.path} is no request`, {
      fix: "give a method and a path from its slash on: stagecraft explain GET /links/7",
    });
  const explanation = explainRequest(await loadApplication(context), { method, path });
  if (context.isJson) writeJson(context, explanation);
  else context.stdout.write(formatExplanation(explanation));
  return explanation.route !== null || explanation.isHealth ? 0 : 1;
}

function explainRequest(loaded: LoadedApplication, { method, path }: ExplainedRequest): Explanation {
  const { application, builder } = loaded;
  const descriptors = application.routes().descriptors();
  const found = application.routes().find(method, path);
  const candidates = matchRoutes(descriptors, { method, path }, found);
  return {
    method,
    path,
    isHealth: builder.plan.health && Health.listPaths(builder.plan.healthPrefix).includes(path),
    route: found === undefined ? null : describeRoute(loaded, found),
    considered: candidates,
    nearest: found === undefined && candidates.length === 0 ? findNearest(descriptors, path) : null,
    stages: explainStages(loaded),
    refusals: listRefusals(application, { method, route: found, hasTemplate: candidates.length > 0 }),
  };
}

function describeRoute({ application }: LoadedApplication, { method, path, name, handler }: RouteDescriptor) {
  const graphed = application.graph().routes.find((each) => each.method === method && each.path === path);
  const { module = "", guards = [], middleware = [], policies = [] } = graphed ?? {};
  return { method, path, name, handler, module, guards, middleware, policies };
}

function formatExplanation(explanation: Explanation): string {
  const { considered, stages, refusals } = explanation;
  const others = considered.map(({ method, path, why }) => [`${method} ${path}`, why]);
  return [
    formatHead(explanation),
    section("Considered", others),
    section(
      "Stages",
      stages.map(({ number, slot, on, because }) => [String(number).padStart(2), slot, on ? "on" : "off", because]),
    ),
    section(
      "Refusals",
      refusals.map(({ status, by, when }) => [String(status), by, when]),
    ),
  ]
    .filter((part) => part !== "")
    .join("\n");
}

function formatHead({ method, path, isHealth, route, considered, nearest }: Explanation): string {
  const request = `${method} ${path}`;
  if (isHealth)
    return `${request} is a health endpoint: the stage health responds, and no stage below it sees the request\n`;
  if (route !== null) return `${request} is handled by ${route.handler}\n${formatColumns(listFacts(route), "  ")}`;
  if (considered.length > 0) return `${request}: no route has the method\n`;
  return `${request}: no route has the path${nearest === null ? "" : `; the nearest is ${nearest}`}\n`;
}

function listFacts({ method, path, name, module, guards, middleware, policies }: NonNullable<Explanation["route"]>) {
  return [
    ["route", `${method} ${path}${name === undefined ? "" : `, named ${name}`}`],
    ["module", module === "" ? "none: .routes(…) of the builder" : module],
    ["guards", list(guards)],
    ["middleware", list(middleware)],
    ...(policies.length === 0 ? [] : [["policies", list(policies)]]),
  ];
}

/** In the order in which they run. */
function list(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.join(", ");
}

function section(title: string, rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? "" : `${title}\n${formatColumns(rows, "  ")}`;
}
