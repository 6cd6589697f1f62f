/** The rows of the commands for jobs and schedules, in the table of commands. */
import { argument, command, flag, optionalArgument, text, type CommandRow } from "../command.js";

const jobs = text("NAME", "the Jobs, where the application has several");
const queue = text("NAME", "only this queue; all unless given");
const queues = text("NAMES", "only these queues, with commas between; those of new Jobs unless given");
const concurrency = text("COUNT", "the most jobs at once; that of new Jobs unless given");

export const JOB_COMMANDS: readonly CommandRow[] = [
  command("jobs work", {
    summary: "work jobs without serving requests, until SIGTERM or Ctrl-C",
    parameters: { queue: queues, concurrency },
    load: async () => (await import("./work.js")).work,
  }),
  command("jobs drain", {
    summary: "work the jobs that are due, and end; exit code 1 if one becomes a dead letter",
    parameters: { queue: queues, concurrency },
    load: async () => (await import("./work.js")).drain,
  }),
  command("jobs list", {
    summary: "the queues and their jobs, the oldest first, without what the jobs carry",
    parameters: {
      queue,
      state: text("STATE", "waiting, running or dead; all unless given"),
      name: text("JOB", "only jobs of this name"),
      limit: text("COUNT", "the most jobs, up to 1000; 50 unless given"),
      jobs,
    },
    json: true,
    load: async () => (await import("./list.js")).list,
  }),
  command("jobs show", {
    summary: "one job: its attempts, times and last error",
    parameters: { id: argument("ID", "of the job"), payload: flag("show what it carries, too"), jobs },
    json: true,
    load: async () => (await import("./one-job.js")).show,
  }),
  command("jobs retry", {
    summary: "run a dead letter again, or with --dead up to 1000 of them",
    parameters: {
      id: optionalArgument("ID", "of the job"),
      dead: flag("all dead letters, at most 1000 at a call"),
      queue,
      name: text("JOB", "with --dead, only jobs of this name"),
      jobs,
    },
    json: true,
    load: async () => (await import("./retry.js")).retry,
  }),
  command("jobs cancel", {
    summary: "remove a waiting job, or ask a running one to end",
    parameters: { id: argument("ID", "of the job"), jobs },
    json: true,
    load: async () => (await import("./one-job.js")).cancel,
  }),
  command("jobs pause", {
    summary: "let no process begin a job of a queue",
    parameters: {
      queue: argument("QUEUE", "the name of the queue"),
      by: text("WHO", "who pauses it; the user and the machine unless given"),
      jobs,
    },
    json: true,
    load: async () => (await import("./pause.js")).pause,
  }),
  command("jobs resume", {
    summary: "end the pause of a queue",
    parameters: { queue: argument("QUEUE", "the name of the queue"), jobs },
    json: true,
    load: async () => (await import("./pause.js")).resume,
  }),
  command("schedule list", {
    summary: "the schedules, with their next and last runs",
    parameters: { jobs },
    json: true,
    load: async () => (await import("./schedules.js")).listSchedules,
  }),
  command("schedule run", {
    summary: "add the job of a schedule now",
    parameters: { name: argument("NAME", "of the schedule"), jobs },
    json: true,
    load: async () => (await import("./schedules.js")).runSchedule,
  }),
];
