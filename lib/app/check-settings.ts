/**
 * The checks of `build()` that need no modules and no routes: configuration, port, listen address, health, times, trusted proxies.
 */
import { isIPv6 } from "node:net";
import { describeToken } from "../di/token.js";
import type { KoaApplication } from "../http/koa/koa-application.js";
import { TrustedProxies } from "../http/request/client-address.js";
import { FrameworkError } from "../errors/framework-error.js";
import type { Diagnostic } from "../errors/diagnostic.js";
import { causeText } from "../errors/thrown-value.js";
import { Health, checkHealthPrefix } from "../stages/health.js";
import { checkUagPath } from "../stages/uag-endpoint.js";
import { describeInvalidMiddleware, isMiddleware } from "../routing/middleware.js";
import { checkLifecycleOptions } from "../lifecycle/lifecycle-options.js";
import type { Plan } from "./plan.js";
import { AppConfig, checkPort } from "./config.js";

export interface CheckedSettings {
  readonly diagnostics: readonly Diagnostic[];
  readonly proxies: TrustedProxies;
  /** The paths of the health endpoints. No route may have one of them. */
  readonly healthPaths: readonly string[];
}

const KOA_LIST = "koa.use(…) or koa.middleware";

export function checkSettings(plan: Plan): CheckedSettings {
  const wrongPrefix = plan.health ? checkHealthPrefix(plan.healthPrefix) : undefined;
  const healthPaths = plan.health && wrongPrefix === undefined ? Health.listPaths(plan.healthPrefix) : [];
  const single = [
    plan.port === undefined ? undefined : checkPort(plan.port, ".port(n)"),
    checkHost(plan.host),
    wrongPrefix,
    plan.uagPath === undefined ? undefined : checkUagPath(plan.uagPath, healthPaths),
    checkKoa(plan.koa),
  ];
  const diagnostics = [
    ...plan.diagnostics,
    ...plan.layers.filter((each) => !isMiddleware(each)).map((each) => describeInvalidMiddleware(each, KOA_LIST)),
    ...checkLifecycleOptions(plan.lifecycle),
    ...checkConfig(plan.config),
    ...(plan.pageContracts?.diagnostics?.() ?? []),
    ...single.filter((diagnostic) => diagnostic !== undefined),
  ];
  return { proxies: readProxies(plan, diagnostics), diagnostics, healthPaths };
}

/** The diagnostic for an error that a constructor or parser threw. */
export function toDiagnostic(error: unknown, where: string, fix: string): Diagnostic {
  if (error instanceof FrameworkError) return { code: error.code, what: error.message, where, fix };
  return { code: "E_STAGE", what: causeText(error), where, fix };
}

function checkConfig(config: unknown): readonly Diagnostic[] {
  if (config === undefined) return [];
  if (config instanceof AppConfig) return config.check();
  const what = `${describeToken(config)} is not an AppConfig`;
  return [{ code: "E_CONFIG", what, where: ".config(…)", fix: "give new AppConfig({…}) or AppConfig.fromEnv()" }];
}

/** Checked here, because Node would listen on all addresses if it got an empty one. */
function checkHost(host: unknown): Diagnostic | undefined {
  // The first call of `isIPv6` takes milliseconds: Node compiles a long pattern.
  if (typeof host === "string" && (/^[^\s/:[\]]+$/.test(host) || isIPv6(host))) return undefined;
  return {
    code: "E_BIND",
    what: `${typeof host === "string" ? JSON.stringify(host) : describeToken(host)} is not an address to listen on`,
    where: ".bind(host)",
    fix: 'give an address or a host name, without scheme, brackets and port; "0.0.0.0" is all of them',
  };
}

function checkKoa({ isServing }: KoaApplication): Diagnostic | undefined {
  if (!isServing) return undefined;
  return {
    code: "E_BUILT_TWICE",
    what: "build() was called twice",
    where: "the application's builder",
    fix: "create another builder: its Koa application serves one application",
  };
}

function readProxies({ trustedProxies }: Plan, diagnostics: Diagnostic[]): TrustedProxies {
  try {
    return TrustedProxies.parse(trustedProxies);
  } catch (error) {
    diagnostics.push(
      toDiagnostic(error, ".trustedProxies(list)", "give addresses and CIDR blocks, separated by commas"),
    );
    return TrustedProxies.none;
  }
}
