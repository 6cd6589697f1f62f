/**
 * `stagecraft openapi`: the OpenAPI document of the application. With `--check FILE` it is compared with an earlier document, and a change
 * that breaks a client fails.
 */
import { checkOpenApi } from "../../openapi/check-open-api.js";
import { createOpenApi } from "../../openapi/open-api.js";
import type { ApiChange } from "../../openapi/schema-changes.js";
import { loadApplication } from "../application/load-application.js";
import { CommandError, type CommandContext, type ExitCode } from "../command.js";
import { readGivenJson, writeJson } from "./given-file.js";

export async function openapi(
  { check }: { readonly check: string | undefined },
  context: CommandContext,
): Promise<ExitCode> {
  const { application, builder } = await loadApplication(context);
  // That of `.apiDocs()` has the options of the application.
  const document =
    builder.plan.apiDocs?.getDocument() ?? createOpenApi(application, { info: { title: application.config().name } });
  if (check === undefined) {
    context.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    return 0;
  }
  const before = readGivenJson(check, context);
  if (!("openapi" in before && "paths" in before))
    throw new CommandError(`${check} is no OpenAPI document`, { fix: `write it first: stagecraft openapi > ${check}` });
  const changes = checkOpenApi(before, document, { at: new Date() });
  if (context.isJson) writeJson(context, changes);
  else for (const change of changes) context.stdout.write(formatChange(change));
  return report(changes, check, context);
}

function formatChange({ isBreaking, where, what }: ApiChange): string {
  return `${isBreaking ? "breaking" : "added"}  ${where}: ${what}\n`;
}

function report(changes: readonly ApiChange[], file: string, { stderr }: CommandContext): ExitCode {
  const breaking = changes.filter(({ isBreaking }) => isBreaking).length;
  if (breaking === 0) return 0;
  stderr.write(`${breaking} of ${changes.length} changes since ${file} break a client\n`);
  return 1;
}
