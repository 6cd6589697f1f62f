/** The rows of the commands that change something, in the table of commands. */
import { argument, command, flag, optionalArgument, text, type CommandRow } from "../command.js";

const database = text("NAME", "the database, where the application has several");

const inRelease = flag("needed too where NODE_ENV is production");

export const DO_COMMANDS: readonly CommandRow[] = [
  command("migrate", {
    summary: "apply the pending migrations",
    parameters: { database, to: text("NAME", "the last migration to apply; all unless given") },
    json: true,
    load: async () => (await import("./migrate.js")).migrate,
  }),
  command("migrate:status", {
    summary: "show every migration: done, pending, started or edited",
    parameters: { database },
    json: true,
    load: async () => (await import("./migrate.js")).showStatus,
  }),
  command("migrate:undo", {
    summary: "undo the last migrations, which may delete data",
    parameters: {
      count: optionalArgument("COUNT", "how many; 1 unless given"),
      database,
      force: flag("needed, because data may be deleted"),
    },
    json: true,
    load: async () => (await import("./migrate.js")).undo,
  }),
  command("migrate:show", {
    summary: "show what a migration has executed",
    parameters: { name: argument("NAME", "of the migration"), database },
    json: true,
    load: async () => (await import("./migrate.js")).show,
  }),
  command("migrate:accept", {
    summary: "accept the edit of an applied migration",
    parameters: { name: argument("NAME", "of the migration"), database, reason: text("TEXT", "why, for the record") },
    load: async () => (await import("./migrate.js")).accept,
  }),
  command("migrate:make", {
    summary: "write a migration, as make:migration does",
    parameters: { name: argument("NAME", "words in lower case, such as add-colour") },
    load: async () => (await import("../make/make.js")).make("migration"),
  }),
  command("db:seed", {
    summary: "run the seeds of the database, each in one transaction",
    parameters: { database, inRelease },
    json: true,
    load: async () => (await import("./seed.js")).seed,
  }),
  command("db:fresh", {
    summary: "drop everything in the database, and apply all migrations",
    parameters: {
      database,
      seed: flag("run the seeds too"),
      force: flag("needed, because all data is deleted"),
      inRelease,
    },
    json: true,
    load: async () => (await import("./seed.js")).refresh,
  }),
  command("down", {
    summary: "put all processes of the application into maintenance",
    parameters: {
      retryAfter: text("SECONDS", "the value of Retry-After; that of the application unless given"),
    },
    json: true,
    load: async () => (await import("./maintenance.js")).down,
  }),
  command("up", {
    summary: "end the maintenance of all processes",
    json: true,
    load: async () => (await import("./maintenance.js")).up,
  }),
  command("key:generate", {
    summary: "a new key: 64 random bytes as 128 hexadecimal characters",
    load: async () => (await import("./generate-key.js")).generateKey,
  }),
];
