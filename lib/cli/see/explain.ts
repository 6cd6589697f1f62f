/**
 * `stagecraft explain METHOD PATH`: what the application does with a request. The route that handles it and those that do not, its guards
 * and middleware, each stage on or off with the line of the program that says so, and the statuses with which it may be refused. Exit code 1
 * if no route handles it.
 */
import { Health } from "../../stages/health.js";
import { loadApplication, type LoadedApplication } from "../application/load-application.js";
import { UsageError, type CommandContext, type ExitCode } from "../command.js";
import { formatColumns } from "../text-table.js";
import { explainRoute, type ExplainedPart, type ExplainedRoute } from "./explained-route.js";
import { explainStages, type ExplainedStage } from "./explained-stages.js";
import { findNearest, matchRoutes, type Candidate, type ExplainedRequest } from "./matched-routes.js";
import { listRefusals, type PossibleRefusal } from "./refusals.js";
import { writeJson } from "./given-file.js";

export interface Explanation {
  readonly method: string;
  readonly path: string;
  /** The path is one of the health endpoints, which no other stage sees. */
  readonly isHealth: boolean;
  readonly route: ExplainedRoute | null;
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
  const row = application
    .routes()
    .listRows()
    .find(({ route }) => route.method === found?.method && route.descriptor.path === found.path);
  const candidates = matchRoutes(descriptors, { method, path }, found);
  return {
    method,
    path,
    isHealth: builder.plan.health && Health.listPaths(builder.plan.healthPrefix).includes(path),
    route: row === undefined ? null : explainRoute(loaded, row),
    considered: candidates,
    nearest: found === undefined && candidates.length === 0 ? findNearest(descriptors, path) : null,
    stages: explainStages(loaded),
    refusals: listRefusals(application, { method, row, hasTemplate: candidates.length > 0 }),
  };
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
  if (route !== null)
    return `${request} is handled by ${formatPart({ name: route.handler, at: route.at })}\n${formatColumns(listFacts(route), "  ")}`;
  if (considered.length > 0) return `${request}: no route has the method\n`;
  return `${request}: no route has the path${nearest === null ? "" : `; the nearest is ${nearest}`}\n`;
}

function listFacts({ method, path, name, module, options, guards, middleware, policies }: ExplainedRoute) {
  const given = Object.entries(options).map(([option, value]) => `${option}: ${JSON.stringify(value)}`);
  return [
    ["route", `${method} ${path}${name === undefined ? "" : `, named ${name}`}`],
    ["module", module === "" ? "none: .routes(…) of the builder" : module],
    ...(given.length === 0 ? [] : [["options", given.join(", ")]]),
    ...listParts("guards", guards),
    ...listParts("middleware", middleware),
    ...(policies.length === 0 ? [] : [["policies", policies.join(", ")]]),
  ];
}

/** One line each, in the order in which they run. */
function listParts(title: string, parts: readonly ExplainedPart[]): readonly (readonly string[])[] {
  return parts.length === 0 ? [[title, "none"]] : parts.map((part, at) => [at === 0 ? title : "", formatPart(part)]);
}

function formatPart({ name, at }: ExplainedPart): string {
  return at === null ? name : `${name} at ${at}`;
}

function section(title: string, rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? "" : `${title}\n${formatColumns(rows, "  ")}`;
}
