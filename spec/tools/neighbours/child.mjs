/**
 * Runs programs on one host, and prints what was seen of each as JSON.
 * Usage: node child.mjs <koa|framework> <name of a program>...
 */
import { FrameworkHost, KoaHost } from "./host.mjs";
import { load, PROGRAMS } from "./programs.mjs";

const [hostName, ...names] = process.argv.slice(2);
const Chosen = hostName === "koa" ? KoaHost : FrameworkHost;
const LIMIT_MS = 30_000;

async function run(program) {
  const host = new Chosen();
  try {
    await within(program.run(host, ...(await load(program))));
  } catch (error) {
    host.note("error", failure(error));
    if (process.env.NEIGHBOURS_DEBUG) console.error(error);
  } finally {
    await host.stop();
  }
  return host.seen;
}

/** A start that is refused has a code. */
function failure(error) {
  const message = String(error?.message ?? error);
  const code = /\bE_[A-Z_]+\b/.exec(message)?.[0];
  return code === undefined ? `fails: ${message.split("\n")[0]}` : `does not start: \`${code}\``;
}

// An error in an event handler is one of the program that runs.
let fail = () => {};
process.on("uncaughtException", (error) => fail(error));

function within(work) {
  const late = new Promise((_, reject) => {
    setTimeout(reject, LIMIT_MS, new Error(`no end within ${LIMIT_MS} ms`)).unref();
  });
  const thrown = new Promise((_, reject) => (fail = reject));
  return Promise.race([work, late, thrown]);
}

// What a package prints is not part of the result.
console.log = console.info = console.warn = () => {};
const seen = {};
for (const program of PROGRAMS.filter(({ name }) => names.includes(name))) seen[program.name] = await run(program);
process.stdout.write(JSON.stringify(seen), () => process.exit());
