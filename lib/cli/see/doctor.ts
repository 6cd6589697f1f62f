/**
 * `stagecraft doctor`: finds what keeps the application from running well, each finding with its fix. The last line is the verdict. A failure
 * gives exit code 1, and with `--strict` a warning does too.
 */
import { completeLifecycleOptions } from "../../lifecycle/lifecycle-options.js";
import { causeText } from "../../errors/thrown-value.js";
import { loadApplication, type LoadedApplication } from "../application/load-application.js";
import type { CommandContext, ExitCode } from "../command.js";
import { checkCompiler } from "./doctor/compiler.js";
import { checkDatabases } from "./doctor/databases.js";
import { checkEnvironment, checkPort } from "./doctor/environment.js";
import type { Finding } from "./doctor/finding.js";
import { checkNode } from "./doctor/node-version.js";
import { checkPackages } from "./doctor/packages.js";
import { checkStopTime } from "./doctor/stop-time.js";
import { findApplication } from "../application/find-application.js";
import { writeJson } from "./given-file.js";

export async function doctor(
  { strict }: { readonly strict: true | undefined },
  context: CommandContext,
): Promise<ExitCode> {
  const file = findApplication(context);
  const findings = [
    checkNode(process.versions.node, new Date()),
    ...checkCompiler(file),
    ...checkPackages(file.root),
    ...(await checkApplication(context)),
  ];
  const count = (level: Finding["level"]) => findings.filter((finding) => finding.level === level).length;
  const [failures, warnings] = [count("fail"), count("warn")];
  if (context.isJson) writeJson(context, findings);
  else context.stdout.write(`${findings.map(formatFinding).join("")}${formatVerdict(failures, warnings)}\n`);
  return failures > 0 || (strict === true && warnings > 0) ? 1 : 0;
}

/** An application that does not load is one finding. */
async function checkApplication(context: CommandContext): Promise<readonly Finding[]> {
  try {
    const loaded = await loadApplication(context);
    return [
      { level: "ok", check: "application", what: `${loaded.file.name} loads, and build() finds no fault` },
      ...checkEnvironment(context.env, loaded.application.config()),
      ...(await checkSurroundings(loaded, context)),
    ];
  } catch (error) {
    const fix = Object(error).fix ?? "correct the faults";
    return [{ level: "fail", check: "application", what: causeText(error), fix: String(fix) }];
  }
}

async function checkSurroundings(
  { application, builder }: LoadedApplication,
  context: CommandContext,
): Promise<readonly Finding[]> {
  const { plan } = builder;
  const times = completeLifecycleOptions(plan.lifecycle, "release");
  return [
    await checkPort(context.env, { host: plan.host, asked: plan.port, configured: application.config().port }),
    ...(await checkDatabases(application.subsystems)),
    ...checkStopTime(times),
  ];
}

function formatFinding({ level, check, what, fix }: Finding): string {
  const lines = what.split("\n").map((line, at) => (at === 0 ? line : `                   ${line}`));
  return `${level.padEnd(4)}  ${check.padEnd(11)}  ${lines.join("\n")}\n${fix === undefined ? "" : `                   fix: ${fix}\n`}`;
}

function formatVerdict(failures: number, warnings: number): string {
  if (failures + warnings === 0) return "no fault found";
  const counts = [
    ...(failures > 0 ? [`${failures} ${failures === 1 ? "failure" : "failures"}`] : []),
    ...(warnings > 0 ? [`${warnings} ${warnings === 1 ? "warning" : "warnings"}`] : []),
  ];
  return counts.join(", ");
}
