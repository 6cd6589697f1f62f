/**
 * A mistake that a user makes, as a small program, and what the program says to it: the message, the place or the cause, and the fix. A new row
 * is one value in a list of this folder. `spec/journeys/mistakes.spec.ts` runs each row in a process of its own.
 *
 * @example
 * {
 *   title: "a class under controllers without @Controller",
 *   files: { "main.ts": `…` },
 *   says: ["E_CONTROLLER_MISSING Links is listed as a controller", "at Links", "fix: write @Controller(table)"],
 * }
 */
import type { BundleOptions } from "../../support/bundle.js";

export interface Mistake {
  /** Unique in the table. */
  readonly title: string;
  /** Texts by path; `main.ts` is run. */
  readonly files: Readonly<Record<string, string>>;
  /**
   * `node`: the output of tsc with the settings of the guide, which is the default; `tsx`: the sources, without settings but those in
   * `files`; `tsc`: the compiler alone, with the settings of the guide.
   */
  readonly by?: "node" | "tsx" | "tsc";
  /** Options of esbuild, which then makes one file of the program and all its packages. */
  readonly bundle?: BundleOptions;
  readonly env?: Readonly<Record<string, string>>;
  /** Parts of the output, in their order: the message, the place or the cause, the fix. */
  readonly says: readonly [message: string, cause: string, fix: string];
  /** The program serves, and is ended when it has said everything; without it the program ends by itself with code 1. */
  readonly serves?: true;
  /** Settings of the compiler that differ from those of the guide, for `node`. */
  readonly settings?: Readonly<Record<string, boolean>>;
  /** The package stands apart from all others, so that each optional package is missing. */
  readonly isApart?: true;
  /** Most lines of the output; a report that stands on one line has 1. */
  readonly lines?: number;
  /** The page "Troubleshooting" has the message as a heading and the fix below it, because Node or a tool speaks first. */
  readonly isExplained?: true;
}

/** Common to most programs. */
export const IMPORTS = `
import { Application, AppConfig, type Context, Controller, event, Events, Get, Inject, Injectable, Middleware, type Next, Module, On, Post, provide, Reply, routes, environment, variable, Subsystem } from "@stagecraft/framework";
`;

/** A program of one file that runs an application of the module `Shop`. */
export function running(declarations: string, run = "await Application.create(Shop).build().run();"): Mistake["files"] {
  return { "main.ts": `${IMPORTS}${declarations}\n${run}\n` };
}

export const JOBS = `import { Every, Handles, job, Jobs, MemoryJobs, schedule } from "@stagecraft/framework/jobs";\n`;

/** Asks the application for a path once it listens. @param stages calls of the builder */
export function asking(path: string, declarations: string, init = "{}", stages = ""): Mistake["files"] {
  const run = `void Application.create(Shop)${stages}.build().run();
const url = \`http://127.0.0.1:\${process.env["PORT"]}${path}\`;
const ask = (): Promise<unknown> => fetch(url, ${init}).catch(() => new Promise((next) => setTimeout(next, 20)).then(ask));
await ask();`;
  return running(declarations, run);
}
