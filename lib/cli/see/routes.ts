/** `stagecraft routes`: the routes of the application, in the order of their declaration. */
import type { CommandContext } from "../command.js";
import { loadApplication } from "../application/load-application.js";
import { formatTable } from "../text-table.js";

export async function routes(_values: unknown, context: CommandContext): Promise<void> {
  const { application } = await loadApplication(context);
  const rows = application
    .routes()
    .descriptors()
    .map(({ method, path, name, handler }) => ({ method, path, name, handler }));
  const { stdout, isJson } = context;
  if (isJson) stdout.write(`${JSON.stringify(rows)}\n`);
  else if (rows.length === 0) stdout.write("the application has no routes\n");
  else
    stdout.write(
      formatTable(
        ["METHOD", "PATH", "NAME", "HANDLER"],
        rows.map(({ method, path, name, handler }) => [method, path, name ?? "", handler]),
      ),
    );
}
