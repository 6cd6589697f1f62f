/** The image of a new project, by the Dockerfile that the project has. Its packages are those of the repository. */
import { chownSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ProjectOptions } from "../../lib/cli/create/options.js";
import { projectFiles } from "../../lib/cli/create/project-files.js";
import { ApplicationFolder, BIN, runBin } from "./application-folder.js";
import { USER_OF_NODE } from "./container.js";
import { Image, type RunCommand } from "./image.js";
import { ROOT } from "./sources.js";

/** The project of the pages on running: it has a database on a server, mails and jobs. */
export const SHOP = { name: "shop", database: "postgres", pages: "none", auth: true, docker: true } as const;

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** The command that writes the compiled code. */
export const COMPILE = `node --eval 'import("./dist/app.js")'`;

function createFolder(path: string): void {
  mkdirSync(path);
  chownSync(path, USER_OF_NODE, USER_OF_NODE);
}

/** The commands of the RUN lines, with the packages of the repository. */
const COMMANDS: Readonly<Record<string, RunCommand>> = {
  "npm ci": (folder) => {
    const { dependencies, devDependencies } = readManifest(folder);
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
      const place = join(folder, "node_modules", name);
      mkdirSync(dirname(place), { recursive: true });
      symlinkSync(name === "@stagecraft/framework" ? ROOT : join(ROOT, "node_modules", name), place);
    }
    mkdirSync(join(folder, "node_modules/.bin"));
    symlinkSync(BIN, join(folder, "node_modules/.bin/stagecraft"));
  },
  "npm run build": async (folder) => {
    const { code, stderr } = await runBin(["build"], { cwd: folder });
    if (code !== 0) throw new Error(stderr);
  },
  "npm prune --omit=dev": (folder) => {
    for (const name of Object.keys(readManifest(folder).devDependencies)) rmSync(join(folder, "node_modules", name));
  },
  "install -d -o node -g node /compiled": (_folder, root) => createFolder(join(root, "compiled")),
  "install -d -o node -g node /data": (_folder, root) => createFolder(join(root, "data")),
  // The code is compiled for its path in the container: a spec runs this command there.
  [COMPILE]: () => {},
};

export async function buildProject(options: ProjectOptions): Promise<Image> {
  using folder = new ApplicationFolder(Object.fromEntries(projectFiles(options, new Date(0))));
  folder.write("package-lock.json", "{}");
  return await Image.build(folder.read("Dockerfile"), { context: folder.path, commands: COMMANDS });
}
