/**
 * What `build()` checks before it looks at modules and routes: port, prefix, times, trusted proxies, configuration.
 */
import { isIPv6 } from "node:net";
import { nameOf } from "../di/token.js";
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
  const config = plan.config instanceof AppConfig ? plan.config.check() : checkConfig(plan.config);
  const port = plan.port === undefined ? undefined : checkPort(plan.port, ".port(n)");
  const prefix = plan.health ? checkHealthPrefix(plan.healthPrefix) : undefined;
  findings.push(...config, ...[port, checkHost(plan.host), prefix].filter((finding) => finding !== undefined));
  return { findings, proxies: readProxies(plan, findings) };
}

function checkConfig(config: unknown): readonly Finding[] {
  if (config === undefined) return [];
  const what = `${nameOf(config)} is no AppConfig`;
  return [{ code: "E_CONFIG", what, where: ".config(…)", cure: "give new AppConfig({…}) or AppConfig.fromEnv()" }];
}

/** Without an address Node would listen on all of them; a URL, brackets and a port are not part of one. */
function checkHost(host: unknown): Finding | undefined {
  if (typeof host === "string" && (isIPv6(host) || /^[^\s/:[\]]+$/.test(host))) return undefined;
  const what = `${JSON.stringify(host)} is no address to listen on`;
  return {
    code: "E_BIND",
    what,
    where: ".bind(host)",
    cure: 'give an address or a host name, without scheme, brackets and port; "0.0.0.0" is all of them',
  };
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
