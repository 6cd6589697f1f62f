/**
 * The stages of a front end, as the builder plans them: its pages, its sessions, the CSRF check of its forms, and the proxy to its
 * development server. The proxy uses the base path of the pages. Also the routes of the API documents.
 */
import { describeToken } from "../di/token.js";
import { profile } from "../runtime/profile.js";
import { Routes } from "../routing/routes.js";
import { DevProxyLayer, readDevProxyState, type DevProxyOptions } from "../stages/dev-proxy/dev-proxy.js";
import { tunnelUpgrades } from "../stages/dev-proxy/upgrades.js";
import type { Pages } from "../stages/pages/pages.js";
import { AppConfig } from "./config.js";
import { ApiDocs, type ApiDocsOptions } from "../openapi/api-docs.js";
import type { CsrfConfig } from "../stages/csrf/csrf-config.js";
import type { SessionConfig } from "../stages/session/session-config.js";
import type { SessionStore } from "../stages/session/stores/session-store.js";
import { toDiagnostic } from "./check-settings.js";
import { createLayerFromFactory, describeRepeatedStage, type Plan, type StagePlan } from "./plan.js";

export function addPages(plan: Plan, pages: Pages): void {
  plan.addStage(
    "pages",
    ".pages(…)",
    (resolve) => checkPages(pages).layer({ origin: new URL(resolve(AppConfig).url).origin, routes: resolve(Routes) }),
    AppConfig,
    Routes,
  );
  plan.pages = pages;
  plan.handles.push(...(pages?.bindings?.() ?? []));
}

/** Whether visitors who read pages get errors as pages. */
export function hasErrorPages({ pages }: Plan): boolean {
  return pages?.hasErrorPages === true;
}

/** Only the entry point of pages loads the class `Pages`, so this check tests a method instead. */
function checkPages(given: Pages): Pages {
  if (typeof (given as Partial<Pages> | undefined)?.layer === "function") return given;
  throw new TypeError(`${describeToken(given)} is not a Pages`);
}

export function addDevProxy(plan: Plan, options: DevProxyOptions | undefined): void {
  const call = ".devProxy(…)";
  try {
    const state = readDevProxyState(options, { profile, environment: process.env });
    plan.devProxy = state;
    if (typeof state === "string") return plan.recordCall(call);
    plan.addStage("devProxy", call, () => new DevProxyLayer(state, plan.pages));
    plan.attachments.push((server, draining) => tunnelUpgrades(server, state.endpoint, draining));
  } catch (error) {
    plan.addStage("devProxy", call, () => {
      throw error;
    });
  }
}

/** The stage and the classes that inject `Sessions` have one store. */
export function addSession(plan: Plan, config: SessionConfig, store: SessionStore | undefined): void {
  // JavaScript callers may pass any value as the config. The stage refuses it with a diagnostic.
  const used = store ?? config?.createStore?.();
  plan.addStage("session", ".session(…)", () => createLayerFromFactory("session", "SessionConfig", config, used));
  plan.handles.push(...(config?.bindings?.(used) ?? []));
}

export function addCsrf(plan: Plan, config: CsrfConfig): void {
  const make: StagePlan["make"] = (resolve) => {
    const site = { origin: new URL(resolve(AppConfig).url).origin, routes: resolve(Routes) };
    return createLayerFromFactory("csrf", "CsrfConfig", config, site);
  };
  plan.csrf = config;
  plan.addStage("csrf", ".csrf(…)", make, AppConfig, Routes);
}

export function addApiDocs(plan: Plan, options: ApiDocsOptions | undefined): void {
  const call = ".apiDocs(…)";
  plan.recordCall(call);
  if (plan.apiDocs !== undefined) plan.diagnostics.push(describeRepeatedStage(call));
  else planApiDocs(plan, call, options);
}

function planApiDocs(plan: Plan, call: string, options: ApiDocsOptions | undefined): void {
  try {
    plan.apiDocs = new ApiDocs(options);
    plan.routes.push(plan.apiDocs.routes);
  } catch (error) {
    plan.diagnostics.push(toDiagnostic(error, call, 'give no argument, or { path: "/openapi.json", page: "/docs" }'));
  }
}
