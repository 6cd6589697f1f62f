/**
 * Loaded into a server before its program (`node --import`), it counts the calls of functions between the messages "begin" and "end" of
 * the parent process, by V8's coverage. The functions of Node itself do not count.
 */
import { Session } from "node:inspector/promises";

const session = new Session();

async function begin(): Promise<void> {
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  // What the optimised code does not report is read here and dropped.
  await session.post("Profiler.takePreciseCoverage");
}

async function end(): Promise<number> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  const files = result.filter(({ url }) => /\/(?:dist\/lib|node_modules)\//.test(url));
  const counts = files.flatMap(({ functions }) => functions.map(({ ranges: [whole] }) => whole?.count ?? 0));
  return counts.reduce((sum, count) => sum + count, 0);
}

process.on("message", (message) => {
  if (message === "begin") void begin().then(() => process.send?.("begun"));
  if (message === "end") void end().then((calls) => process.send?.(calls));
});
