/**
 * Writes the list of the application's commands for help and completion: when the first process is ready, and again when a source changes
 * that may declare a command. An application that does not load leaves the list as it is.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findApplication } from "../application/find-application.js";
import { BackgroundProgram, type BackgroundCommand } from "./background-program.js";

const MAIN = join(import.meta.dirname, "../main.js");

export class CommandListing {
  private isCurrent = false;
  private readonly program = new BackgroundProgram(
    () => this.createCommand(),
    ({ isSuccess }) => (this.isCurrent = isSuccess),
  );

  /** @param root the folder of package.json */
  constructor(
    private readonly root: string,
    private readonly readEnvironment: () => NodeJS.ProcessEnv,
  ) {}

  /** @param moment the listing waits for it */
  update(changed: readonly string[], moment: Promise<unknown>): void {
    this.isCurrent &&= !changed.some(mayDeclareCommand);
    if (!this.isCurrent) void this.program.start(moment);
  }

  stop(): void {
    this.program.stop();
  }

  /** The compiled module: another compiler beside that of the development server would hide a change from it. */
  private createCommand(): BackgroundCommand | undefined {
    try {
      const { output } = findApplication({ cwd: this.root, app: undefined });
      const env = { ...this.readEnvironment(), NODE_ENV: "development" };
      return { args: [MAIN, "routes", "--app", output], cwd: this.root, env };
    } catch {
      return undefined;
    }
  }
}

/** A file that was removed may have declared one. */
function mayDeclareCommand(path: string): boolean {
  try {
    return readFileSync(path, "utf8").includes("Command(");
  } catch {
    return true;
  }
}
