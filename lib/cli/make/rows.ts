/** The rows of `make:*` in the table of commands. */
import { argument, command, type CommandRow } from "../command.js";

/** The kinds of files, with the words of the help. */
export const KINDS = {
  controller: "a controller for the endpoints of make:contract",
  module: "a module",
  contract: "a table of endpoints with their schemas",
  job: "a job and its handler",
  mail: "a mail",
  event: "an event and a listener",
  guard: "a guard and its code",
  policy: "a policy",
  page: "a page of React",
  migration: "a migration",
  test: "a test of the application",
} as const;

export type Kind = keyof typeof KINDS;

export const MAKE_COMMANDS: readonly CommandRow[] = Object.entries(KINDS).map(([kind, summary]) =>
  command(`make:${kind}`, {
    summary: `write ${summary}`,
    parameters: { name: argument("NAME", "words in lower case, such as sale-reports, with / between folders") },
    // The keys of the table are its kinds.
    load: async () => (await import("./make.js")).make(kind as Kind),
  }),
);
