/** Our contender of the TechEmpower scenarios as a process. */
import { serving } from "./serving.js";
import { techempower } from "./techempower.js";

await serving(techempower(process.env["BENCH_DB"] ?? ""));
