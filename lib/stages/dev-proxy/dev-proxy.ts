/**
 * Stage layer: one port for the browser in development. Requests for sources are forwarded to Vite's development server before any other
 * stage, and so are the sockets of its hot reload. Requests without a route and a file are forwarded last. The socket or pipe of Vite is
 * named by `FRAMEWORK_VITE_IPC`. The proxy is off in release builds, and if no endpoint is named.
 *
 * A tool that listens on the port itself and restarts the application behind it must also tunnel to Vite itself. A hot-reload socket
 * through the application would end at each restart, and the browser would reload the page.
 *
 * @example
 * Application.create(LinksModule).devProxy().pages(new Pages({ entry: "pages/main.tsx" }));
 */
import { isGetOrHead } from "../../endpoints/method.js";
import type { Context } from "../../http/request/context.js";
import { StageLayer, type Run } from "../../http/middleware.js";
import type { Profile } from "../../runtime/profile.js";
import { forward } from "./forward.js";

export interface DevProxyOptions {
  /** The socket or pipe of Vite; the value of `FRAMEWORK_VITE_IPC` unless set. */
  readonly endpoint?: string;
  /**
   * The paths whose requests are for sources: `["/src/"]`. Those of `FRAMEWORK_VITE_PREFIXES` go before them. Where
   * `new Pages({ viteBase })` is set, the requests below the base are for sources, and no others.
   */
  readonly prefixes?: readonly string[];
}

export interface DevProxySurroundings {
  readonly profile: Profile;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The endpoint of Vite, and the prefixes of the requests that are forwarded. */
export interface DevProxySettings {
  readonly endpoint: string;
  readonly prefixes: readonly string[];
}

/** The options of the application's pages that concern their sources. */
export interface SourceSite {
  /** The source that starts the front end. The other files of its directory are sources too. */
  readonly entry: string | undefined;
  /** The `base` of Vite. */
  readonly viteBase: string;
}

const NO_SOURCES: SourceSite = { entry: undefined, viteBase: "/" };

/** `ignored` in a release build that names an endpoint: a mistake that is worth a warning. */
export type DevProxyState = DevProxySettings | "off" | "ignored";

const DEFAULT_PREFIXES = ["/resources/", "/src/"];

export function readDevProxyState(
  options: DevProxyOptions = {},
  { profile, environment }: DevProxySurroundings,
): DevProxyState {
  const { endpoint = environment["FRAMEWORK_VITE_IPC"] ?? "", prefixes = [] } = options;
  if (endpoint.trim() === "") return "off";
  if (profile === "release") return "ignored";
  const named = cleanPrefixes((environment["FRAMEWORK_VITE_PREFIXES"] ?? "").split(","));
  const given = cleanPrefixes(prefixes);
  const chosen = named.length > 0 ? named : given.length > 0 ? given : DEFAULT_PREFIXES;
  return { endpoint: endpoint.trim(), prefixes: chosen };
}

function cleanPrefixes(prefixes: readonly string[]): readonly string[] {
  return prefixes.map((prefix) => prefix.trim()).filter((prefix) => /[^/]/.test(prefix));
}

export class DevProxyLayer extends StageLayer {
  private readonly paths: ForwardedPaths;

  constructor(
    private readonly settings: DevProxySettings,
    { entry, viteBase }: SourceSite = NO_SOURCES,
  ) {
    super();
    this.paths = new ForwardedPaths(settings.prefixes, entry, viteBase);
  }

  override wrap(inner: Run): Run {
    const { endpoint } = this.settings;
    return (ctx) => {
      if (!this.paths.includes(ctx.path)) return inner(ctx);
      return forward(ctx, endpoint).then((isForwarded) => (isForwarded ? undefined : inner(ctx)));
    };
  }
}

/** Forwards paths without a route and without a file to Vite. After a 404 of Vite, the application responds. @internal */
export class DevFallbackLayer extends StageLayer {
  constructor(private readonly settings: DevProxySettings) {
    super();
  }

  override wrap(inner: Run): Run {
    const { endpoint } = this.settings;
    return (ctx: Context) => {
      if (!isGetOrHead(ctx.method)) return inner(ctx);
      return forward(ctx, endpoint, { leaves404: true }).then((isForwarded) => (isForwarded ? undefined : inner(ctx)));
    };
  }
}

const VITE_PREFIXES = ["/@", "/node_modules/", "/__open-in-editor"];

/**
 * The paths that Vite's development server serves: those of Vite itself (`/@vite/client`, `/@id/…`, `/@fs/…`), the packages of the front
 * end, the opener of its error overlay, and the prefixes of sources. A prefix is compared by whole segments. With a `base`, Vite serves the
 * paths below the base and no others.
 */
export class ForwardedPaths {
  private readonly prefixes: readonly string[];
  /** The directory of the entry. The application may have routes below the same path, so only files in it count. */
  private readonly sources: string | undefined;

  /** @param base of Vite; it starts and ends with a slash */
  constructor(
    prefixes: readonly string[],
    entry: string | undefined,
    private readonly base: string = "/",
  ) {
    this.prefixes = prefixes.map((prefix) => `/${prefix.replaceAll(/^\/+|\/+$/g, "")}`);
    const directory = entry === undefined ? "" : entry.slice(0, entry.lastIndexOf("/") + 1);
    this.sources = directory === "" ? undefined : `/${directory}`;
  }

  /** @param path raw, without the query */
  includes(path: string): boolean {
    if (this.base !== "/") return path.startsWith(this.base);
    if (VITE_PREFIXES.some((prefix) => path.startsWith(prefix))) return true;
    if (this.prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))) return true;
    return this.sources !== undefined && path.startsWith(this.sources) && isFile(path);
  }
}

function isFile(path: string): boolean {
  return /\.[a-z0-9]+$/i.test(path);
}
