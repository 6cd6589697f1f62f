/**
 * `stagecraft graph`: the modules of the application with what is in them, as a list, as a diagram of Mermaid, or as JSON. With `--diff
 * FILE` the differences from an earlier graph.
 */
import type { GraphModule } from "../../app/graph/graph-modules.js";
import type { ApplicationGraph } from "../../app/graph/graph.js";
import { loadApplication } from "../application/load-application.js";
import { UsageError, type CommandContext } from "../command.js";
import { escapeControls } from "../text-table.js";
import { readGivenJson, writeJson } from "./given-file.js";
import { listGraphChanges } from "./graph-changes.js";

interface GraphOptions {
  readonly mermaid: true | undefined;
  readonly diff: string | undefined;
}

export async function graph({ mermaid, diff }: GraphOptions, context: CommandContext): Promise<void> {
  if (mermaid === true && (diff !== undefined || context.isJson))
    throw new UsageError("--mermaid is another form of the result", { fix: "leave out --json and --diff" });
  const { application } = await loadApplication(context);
  const found = application.graph();
  if (diff !== undefined) writeChanges(readGivenJson(diff, context), found, context);
  else if (context.isJson) writeJson(context, found);
  else context.stdout.write(mermaid === true ? toMermaid(found) : toList(found));
}

function writeChanges(before: object, after: ApplicationGraph, context: CommandContext): void {
  const changes = listGraphChanges(before, after);
  if (context.isJson) writeJson(context, changes);
  else if (changes.length === 0) context.stdout.write("the graphs are equal\n");
  else
    for (const { change, kind, name } of changes) context.stdout.write(`${change} ${kind} ${escapeControls(name)}\n`);
}

const MEMBERS = [
  "imports",
  "controllers",
  "providers",
  "middleware",
  "listeners",
  "jobs",
  "schedules",
  "commands",
  "pages",
] as const;

function toList({ modules, routes }: ApplicationGraph): string {
  const inModules = modules.map((module) => formatModule(module, routes));
  // Routes of the builder belong to no module.
  const others = modules.some(({ name }) => name === "") ? [] : formatRoutes("", routes);
  return [...inModules.flat(), ...(others.length === 0 ? [] : [OF_BUILDER, ...others])]
    .map((line) => `${escapeControls(line)}\n`)
    .join("");
}

const OF_BUILDER = "(the builder)";

function formatModule(module: GraphModule, routes: ApplicationGraph["routes"]): readonly string[] {
  const members = MEMBERS.filter((member) => module[member].length > 0).map(
    (member) => `  ${member}: ${module[member].join(", ")}`,
  );
  return [module.name === "" ? OF_BUILDER : module.name, ...members, ...formatRoutes(module.name, routes)];
}

function formatRoutes(module: string, routes: ApplicationGraph["routes"]): readonly string[] {
  return routes
    .filter((route) => route.module === module)
    .map(({ method, path, handler }) => `  ${method} ${path} → ${handler}`);
}

/** An arrow from each module to those that it imports. */
function toMermaid({ modules }: ApplicationGraph): string {
  const ids = new Map(modules.map(({ name }, at) => [name, `m${at}`]));
  const nodes = modules.map(({ name }) => `  ${ids.get(name)}["${(name || OF_BUILDER).replaceAll(/["\n]/g, "'")}"]`);
  const arrows = modules.flatMap(({ name, imports }) =>
    imports.map((each) => `  ${ids.get(name)} --> ${ids.get(each)}`),
  );
  return `${["flowchart LR", ...nodes, ...arrows].join("\n")}\n`;
}
