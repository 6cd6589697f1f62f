/** The front end of the sample: where its build is, the props of every page, and the pages for errors. */
import { fileURLToPath } from "node:url";
import type { Context } from "@stagecraft/framework";
import { Pages, RootDocument, WorkerPageRenderer, type PagesOptions } from "@stagecraft/framework/pages";
import { CsrfToken, Flash, Session } from "@stagecraft/framework/session";
import type { EveryPage } from "./contracts.js";
import { languages } from "./languages.js";

/** The sources, as Vite's root. */
export const SOURCES = fileURLToPath(new URL("../../../samples/links", import.meta.url));
/** The source that starts the front end in a browser, and the one that renders pages on the server, from the root. */
export const ENTRY = "pages/main.tsx";
export const SERVER_ENTRY = "pages/server.tsx";
export const STYLESHEET = "pages/app.css";

/** Made by `build-front-end.ts`: `client` for browsers, `server/server.js` for the server. */
export const BUILD = fileURLToPath(new URL("front-end-build/", import.meta.url));
export const CLIENT_BUILD = `${BUILD}client`;
export const SERVER_BUNDLE = `${BUILD}server/server.js`;

export function linkPages(options: PagesOptions = {}): Pages {
  return new Pages({
    entry: ENTRY,
    source: "pages/{component}.page.tsx",
    buildDirectory: CLIENT_BUILD,
    document: new RootDocument({ head: HEAD }),
    share: { ...everyPage, ...languages.pageProps("page-") },
    linkHeader: true,
    errors: { "4xx": "errors/show", "5xx": "errors/show" },
    renderer: new WorkerPageRenderer({ bundle: SERVER_BUNDLE }),
    ...options,
  });
}

const HEAD = `<link rel="icon" href="/favicon.svg" type="image/svg+xml"><meta name="color-scheme" content="light dark">`;

type Made<T> = (ctx: Context) => T | Promise<T>;

/** A request that is refused early has no session. Its page is an error page, which needs none. `Visitors` adds the others. */
const everyPage: {
  readonly [K in keyof Omit<EveryPage, "account" | "isAdmin" | "provider" | "locale" | "messages">]-?: Made<
    EveryPage[K]
  >;
} = {
  host: (ctx) => ctx.host,
  token: (ctx) => (isDocument(ctx) && hasSession(ctx) ? CsrfToken.of(ctx).masked() : undefined),
  entered: async (ctx) => (isDocument(ctx) && hasSession(ctx) ? entered(ctx) : undefined),
};

async function entered(ctx: Context): Promise<Readonly<Record<string, string>> | undefined> {
  const { input } = await Flash.of(ctx).peek();
  const texts = Object.entries(input).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []));
  return texts.length === 0 ? undefined : (Object.fromEntries(texts) as Readonly<Record<string, string>>);
}

function hasSession(ctx: Context): boolean {
  return Session.find(ctx) !== undefined;
}

/** A visit of the client's script has no form without scripts. */
function isDocument(ctx: Context): boolean {
  return ctx.get("X-Inertia") === "";
}
