/**
 * What `build()` checks before it looks at modules and routes: port, prefix, times, trusted proxies, configuration.
 */
import { TrustedProxies } from "../kernel/client-ip.js";
import { FrameworkError } from "../kernel/errors.js";
import type { Finding } from "../kernel/startup-error.js";
import { checkHealthPrefix } from "../lifecycle/health-prefix.js";
import { checkLifecycleOptions } from "../lifecycle/lifecycle-options.js";
import { AppConfig } from "./config.js";
import type { Plan } from "./plan.js";
import { checkPort } from "./port.js";

export interface Settings {
  readonly findings: readonly Finding[];
  readonly proxies: TrustedProxies;
}

export function checkSettings(plan: Plan): Settings {
  const findings: Finding[] = [...plan.findings, ...checkLifecycleOptions(plan.lifecycle)];
  if (plan.config instanceof AppConfig) findings.push(...plan.config.check());
  const port = plan.port === undefined ? undefined : checkPort(plan.port, ".port(n)");
  const prefix = plan.health ? checkHealthPrefix(plan.healthPrefix) : undefined;
  findings.push(...[port, prefix].filter((finding) => finding !== undefined));
  return { findings, proxies: readProxies(plan, findings) };
}

function readProxies({ trustedProxies }: Plan, findings: Finding[]): TrustedProxies {
  try {
    return TrustedProxies.parse(trustedProxies);
  } catch (error) {
    findings.push(findingOf(error, ".trustedProxies(list)", "give addresses and CIDR blocks, separated by commas"));
    return TrustedProxies.none;
  }
}

/** What a constructor or parser threw, as one of the faults of the start. */
export function findingOf(error: unknown, where: string, cure = "see the message"): Finding {
  if (error instanceof FrameworkError) return { code: error.code, what: error.message, where, cure };
  return { code: "E_STAGE", what: error instanceof Error ? error.message : String(error), where, cure };
}
