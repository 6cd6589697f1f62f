/** Whether the version of Node runs the framework, and whether it still gets security fixes. */
import type { Finding } from "./finding.js";

const OLDEST = [20, 19] as const;

/** The end of life of each line with long-term support, by the schedule of the Node project. Odd lines have none. */
const ENDS_OF_LIFE: Readonly<Record<number, string>> = {
  20: "2026-04-30",
  22: "2027-04-30",
  24: "2028-04-30",
  26: "2029-04-30",
};

const check = "node";

export function checkNode(version: string, now: Date): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST;
  const newest = Math.max(...Object.keys(ENDS_OF_LIFE).map(Number));
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor))
    return {
      level: "fail",
      check,
      what: `Node ${version} is older than ${OLDEST.join(".")}`,
      fix: `install Node ${newest}`,
    };
  const end = ENDS_OF_LIFE[major];
  if (end !== undefined && now > new Date(end))
    return {
      level: "warn",
      check,
      what: `Node ${version} gets no security fixes since ${end}`,
      fix: `install Node ${newest}`,
    };
  if (end === undefined && major % 2 === 1)
    return {
      level: "warn",
      check,
      what: `Node ${version} is of a line without long-term support`,
      fix: `install Node ${newest}`,
    };
  return { level: "ok", check, what: `Node ${version}${end === undefined ? "" : `, supported until ${end}`}` };
}
