/**
 * Loaded by Node before the application, in each process that the development server starts: the process ends with its standard input,
 * also when the development server was killed. An application that runs drains first, as `run()` does by itself.
 */

/** The time for a drain. */
const GRACE_MS = 2000;

const listeners = process.stdin.listenerCount("end") + 1;

process.stdin
  .on("end", () => {
    // Nothing else listens: the application does not run yet, or it does not use `run()`.
    if (process.stdin.listenerCount("end") <= listeners) process.exit(1);
    setTimeout(() => process.exit(1), GRACE_MS).unref();
  })
  .resume()
  .unref();
