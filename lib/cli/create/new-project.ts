/** `new NAME`: writes a project into a new folder, installs nothing, and prints the next command. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { CommandError, UsageError, type CommandContext } from "../command.js";
import { writeNewFile } from "./new-file.js";
import { checkOptions, DATABASES, PAGES, type ProjectOptions } from "./options.js";
import { projectFiles } from "./project-files.js";

/** What the command line gives. */
export interface NewProjectValues {
  readonly name: string | undefined;
  readonly database: string | undefined;
  readonly pages: string | undefined;
  readonly auth: true | undefined;
  readonly docker: true | undefined;
  readonly yes: true | undefined;
}

/**
 * @throws UsageError if the name is no name, or the choices do not fit
 * @throws CommandError if the folder is not empty, or cannot be written
 */
export async function newProject(values: NewProjectValues, context: CommandContext): Promise<void> {
  const options = parseOptions(values, values.name ?? (await askName(values, context)));
  const { cwd, stdout } = context;
  await checkFolder(join(cwd, options.name), options.name);
  const files = projectFiles(options, new Date());
  for (const [path, text] of files) await writeNewFile(join(cwd, options.name), path, text);
  stdout.write(`wrote ${files.length} files into ${options.name}: ${describe(options)}\n`);
  stdout.write(`next:\n  cd ${options.name} && npm install && npm run dev\n`);
}

function parseOptions({ database, pages, auth, docker }: NewProjectValues, name: string): ProjectOptions {
  const options = {
    name,
    database: parseChoice("--database", DATABASES, database),
    pages: parseChoice("--pages", PAGES, pages),
    auth: auth === true,
    docker: docker === true,
  };
  checkOptions(options);
  return options;
}

/** The first choice is the default. */
function parseChoice<T extends string>(option: string, choices: readonly [T, ...T[]], text: string | undefined): T {
  const choice = text === undefined ? choices[0] : choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  throw new UsageError(`${option} ${JSON.stringify(text)} is not known`, { fix: `choose ${choices.join(", ")}` });
}

/** Only the name has no default, and only a person at a terminal is asked. One option more, and nothing is asked. */
async function askName(values: NewProjectValues, { isInteractive, signal }: CommandContext): Promise<string> {
  if (!isInteractive || Object.values(values).some((value) => value !== undefined))
    throw new UsageError("the name of the project is missing", { fix: "stagecraft new my-shop" });
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return await terminal.question("The name of the project, which is that of its folder: ", { signal });
  } finally {
    terminal.close();
  }
}

async function checkFolder(folder: string, name: string): Promise<void> {
  const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new CommandError(`there is no new folder ${name} (${error.code})`, {
      where: folder,
      fix: "choose another name",
    });
  });
  if (entries.length > 0)
    throw new CommandError("the folder exists and is not empty", {
      where: name,
      fix: "choose another name, or remove the folder",
    });
}

function describe({ database, pages, auth, docker }: ProjectOptions): string {
  return `--database ${database} --pages ${pages}${auth ? " --auth" : ""}${docker ? " --docker" : ""}`;
}
