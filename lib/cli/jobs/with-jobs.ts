/**
 * Connects the store in which jobs wait, without the rest of the application: no handler runs, and no migration is applied. Jobs in the
 * memory of another process are out of reach.
 */
import type { Database } from "../../db/database.js";
import { DiagnosticError } from "../../errors/diagnostic.js";
import { FrameworkError } from "../../errors/framework-error.js";
import { causeText } from "../../errors/thrown-value.js";
import { Jobs } from "../../jobs/jobs.js";
import { MemoryJobs } from "../../jobs/stores/memory/memory-jobs.js";
import type { Subsystem } from "../../lifecycle/subsystem.js";
import type { Application } from "../../app/application.js";
import type { ApplicationFile } from "../application/find-application.js";
import { loadApplication } from "../application/load-application.js";
import { CommandError, UsageError, type CommandContext } from "../command.js";
import { connect } from "../do/with-database.js";

export interface ChosenJobs {
  /** `--jobs NAME` */
  readonly jobs: string | undefined;
}

/** @throws CommandError if the jobs are out of reach; UsageError if the name is missing or unknown */
export async function withJobs<T>(
  context: CommandContext,
  { jobs: name }: ChosenJobs,
  use: (jobs: Jobs) => Promise<T>,
): Promise<T> {
  const { application, file } = await loadApplication(context);
  const jobs = chooseJobs(listJobs(application, file), name);
  return whileStoreConnected(jobs, application.subsystems, () => use(jobs));
}

/** @throws CommandError if the application has none */
export function listJobs({ subsystems }: Application, { name }: ApplicationFile): readonly Jobs[] {
  const all = subsystems.filter((each): each is Jobs => each instanceof Jobs);
  if (all.length > 0) return all;
  throw new CommandError("the application has no jobs", {
    where: name,
    fix: "provide Jobs: the chapter on jobs of the guide shows how",
  });
}

function chooseJobs(all: readonly Jobs[], name: string | undefined): Jobs {
  const chosen = name === undefined && all.length === 1 ? all : all.filter((each) => each.name === name);
  const [jobs] = chosen;
  if (jobs !== undefined) return jobs;
  throw new UsageError(name === undefined ? "the application has several Jobs" : `there are no Jobs ${name}`, {
    fix: `choose one: --jobs ${all.map((each) => each.name).join(" or ")}`,
  });
}

/** @throws CommandError */
export function refuseMemory({ operated, name }: Jobs): void {
  if (!(operated.store instanceof MemoryJobs)) return;
  throw new CommandError(
    "these jobs live in the memory of the process that dispatches them, where no command can reach them",
    {
      where: `MemoryJobs of ${name}`,
      fix: "keep them in a database or in BullMQ: leave out the option store of new Jobs, and provide a database",
    },
  );
}

async function whileStoreConnected<T>(jobs: Jobs, subsystems: readonly Subsystem[], use: () => Promise<T>): Promise<T> {
  refuseMemory(jobs);
  const { store } = jobs.operated;
  const start = () => (store.connect === undefined ? store.start?.() : store.connect());
  const work = async (): Promise<T> => {
    await connect(`store of ${jobs.name}`, { start });
    try {
      return await use();
    } finally {
      await store.stop?.();
    }
  };
  // The comparison is enough: the database that a store names is one of the application.
  const database = subsystems.find((each): each is Database<unknown> => each === store.database);
  if ((await database?.driver.isAbsent?.()) === true)
    throw new CommandError(`the database ${database?.name} does not exist yet`, { fix: "run stagecraft migrate" });
  if (database !== undefined) await connect(`database ${database.name}`, database.driver);
  try {
    return await work();
  } catch (error) {
    throw explainFailure(error, jobs);
  } finally {
    await database?.driver.stop();
  }
}

/** Errors of the program keep their message. Of the others the command says which store it has asked. */
function explainFailure(error: unknown, { name }: Jobs): unknown {
  if (error instanceof CommandError || error instanceof DiagnosticError) return error;
  if (error instanceof FrameworkError && error.status < 500) return error;
  const isTable = /framework_(?:dead_)?job/u.test(causeText(error));
  return new CommandError(`the store of ${name} does not answer as it should: ${causeText(error)}`, {
    fix: isTable
      ? "list jobsMigrations of @stagecraft/framework/jobs under the migrations of the database, and run stagecraft migrate"
      : "start the server, and check the variable with its address; stagecraft doctor says more",
    cause: error,
  });
}
