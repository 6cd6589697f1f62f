/**
 * What `build()` checks before it looks at modules and routes: configuration, port, address, health, times, trusted proxies.
 */
import { isIPv6 } from "node:net";
import { nameOf } from "../di/token.js";
import { TrustedProxies } from "../http/client-address.js";
import { FrameworkError } from "../errors/framework-error.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { Health, checkHealthPrefix } from "../stages/health.js";
import { checkLifecycleOptions } from "../lifecycle/options.js";
import { checkSwitch, type Plan } from "./plan.js";
import { AppConfig, checkPort } from "./config.js";

export interface Settings {
  readonly findings: readonly Diagnostic[];
  readonly proxies: TrustedProxies;
  /** Where the health endpoints stand: no route may. */
  readonly healthPaths: readonly string[];
}

export function checkSettings(plan: Plan): Settings {
  const prefix = plan.health ? checkHealthPrefix(plan.healthPrefix) : undefined;
  const single = [
    plan.port === undefined ? undefined : checkPort(plan.port, ".port(n)"),
    checkHost(plan.host),
    checkSwitch(plan.health, ".health(on)"),
    prefix,
    checkSwitch(plan.redirectMapper, ".redirectMapper(on)"),
  ];
  const findings = [
    ...plan.findings,
    ...checkLifecycleOptions(plan.lifecycle),
    ...(plan.config instanceof AppConfig ? plan.config.check() : checkConfig(plan.config)),
    ...single.filter((finding) => finding !== undefined),
  ];
  const healthPaths = plan.health && prefix === undefined ? Health.pathsBelow(plan.healthPrefix) : [];
  return { findings, proxies: readProxies(plan, findings), healthPaths };
}

function checkConfig(config: unknown): readonly Diagnostic[] {
  if (config === undefined) return [];
  const what = `${nameOf(config)} is no AppConfig`;
  return [{ code: "E_CONFIG", what, where: ".config(…)", fix: "give new AppConfig({…}) or AppConfig.fromEnv()" }];
}

/** Without an address Node would listen on all of them; a URL, brackets and a port are not part of one. */
function checkHost(host: unknown): Diagnostic | undefined {
  if (typeof host === "string" && (isIPv6(host) || /^[^\s/:[\]]+$/.test(host))) return undefined;
  const what = `${typeof host === "string" ? JSON.stringify(host) : nameOf(host)} is no address to listen on`;
  return {
    code: "E_BIND",
    what,
    where: ".bind(host)",
    fix: 'give an address or a host name, without scheme, brackets and port; "0.0.0.0" is all of them',
  };
}

function readProxies({ trustedProxies }: Plan, findings: Diagnostic[]): TrustedProxies {
  try {
    return TrustedProxies.parse(trustedProxies);
  } catch (error) {
    findings.push(findingOf(error, ".trustedProxies(list)", "give addresses and CIDR blocks, separated by commas"));
    return TrustedProxies.none;
  }
}

/** What a constructor or parser threw, as one of the faults of the start. */
export function findingOf(error: unknown, where: string, fix = "see the message"): Diagnostic {
  if (error instanceof FrameworkError) return { code: error.code, what: error.message, where, fix };
  return { code: "E_STAGE", what: error instanceof Error ? error.message : String(error), where, fix };
}
