/** What `new` is asked for. Each choice has a default. */
import { UsageError } from "../command.js";

export const DATABASES = ["sqlite", "postgres", "mysql", "none"] as const;
export const PAGES = ["none", "react", "vue", "svelte"] as const;

export interface ProjectOptions {
  readonly name: string;
  readonly database: (typeof DATABASES)[number];
  readonly pages: (typeof PAGES)[number];
  readonly auth: boolean;
  readonly docker: boolean;
}

/** Names of npm packages without a scope, which are also names of folders, of databases and of images. */
const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const MAX_NAME = 50;

/** @throws UsageError if the name is no name, or the choices do not fit */
export function checkOptions(options: ProjectOptions): void {
  if (!NAME.test(options.name) || options.name.length > MAX_NAME)
    throw new UsageError(`${JSON.stringify(options.name.slice(0, 2 * MAX_NAME))} cannot be the name of a project`, {
      fix: `use at most ${MAX_NAME} lower-case letters, digits and single hyphens, and begin with a letter, such as my-shop`,
    });
  if (options.auth && options.database === "none")
    throw new UsageError("--auth stores accounts in a database", {
      fix: "choose --database sqlite, postgres or mysql",
    });
}

/** Pages keep their forms' faults in a session, and accounts keep who has signed in. */
export function hasSessions({ pages, auth }: ProjectOptions): boolean {
  return auth || pages !== "none";
}
