/** Visits of pages over a real socket: the application around them, the headers of the Inertia client, and the page object of a response. */
import { Application } from "../../lib/app/application.js";
import { AppConfig } from "../../lib/app/config.js";
import type { ApplicationBuilder } from "../../lib/app/builder.js";
import type { Context } from "../../lib/http/request/context.js";
import { Route } from "../../lib/routing/route.js";
import { Routes } from "../../lib/routing/routes.js";
import { Pages, type PagesOptions } from "../../lib/stages/pages/pages.js";

export interface PageData {
  readonly component: string;
  readonly props: Readonly<Record<string, unknown>>;
  readonly url: string;
  readonly version: string | null;
  readonly [name: string]: unknown;
}

/** The headers of every request of the Inertia client. */
export function inertia(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { "X-Inertia": "true", Accept: "text/html, application/xhtml+xml", ...more };
}

/** The headers of a partial reload of `component`. */
export function partial(component: string, only?: string, more: Readonly<Record<string, string>> = {}) {
  const asked = only === undefined ? {} : { "X-Inertia-Partial-Data": only };
  return inertia({ "X-Inertia-Partial-Component": component, ...asked, ...more });
}

/** An application whose every path has the handler. */
export function pagesApplication(
  handler: (ctx: Context<string>) => unknown,
  options: PagesOptions = {},
  change: (builder: ApplicationBuilder) => ApplicationBuilder = (builder) => builder,
): ApplicationBuilder {
  const builder = Application.create()
    .config(new AppConfig({ url: "https://shop.example" }))
    .routes(new Routes([Route.any("/{*rest}", handler), Route.any("/", handler)]))
    .pages(new Pages(options));
  return change(builder);
}

/** The page object in the script of a document. */
export function pageIn(html: string): PageData {
  const json = /<script[^>]* data-page="app"[^>]*>(.*?)<\/script>/s.exec(html)?.[1];
  if (json === undefined) throw new Error(`no page object in ${html}`);
  return JSON.parse(json) as PageData;
}
