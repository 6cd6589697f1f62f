/**
 * The page of an API document: Swagger UI, from the application itself. The policy of the page allows only scripts and style sheets with the
 * nonce of the response, and only requests to the same origin.
 *
 * The viewer is an optional package, whose files are read where it is installed; a bundle in one file does not have them.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { expectPeer, requirePeer, type Peer } from "../errors/optional-package.js";
import { joinPaths } from "../endpoints/filled-path.js";
import type { Context } from "../http/request/context.js";
import { Reply } from "../http/response/reply.js";
import type { CsrfTokenNames } from "../stages/csrf/csrf-config.js";
import { PreparedFile } from "./prepared-file.js";
import { escapeHtml, scriptJson } from "../stages/pages/document/html.js";

const PEER: Peer = {
  entry: ".apiDocs(…)",
  name: "swagger-ui-dist",
  from: "5.32.0",
  install: "swagger-ui-dist@5",
  // The main module would load the viewer itself, which is for a browser.
  module: "swagger-ui-dist/absolute-path.js",
};

/** The files of the viewer by the ending of their path. */
const FILES = {
  "viewer.js": { file: "swagger-ui-bundle.js", type: "text/javascript; charset=utf-8" },
  "viewer.css": { file: "swagger-ui.css", type: "text/css; charset=utf-8" },
} as const;

export type ViewerFile = keyof typeof FILES;

export const VIEWER_FILES = Object.keys(FILES) as readonly ViewerFile[];

const NONCE_BYTES = 18;

/** Finds the folder of the viewer. @throws FrameworkError `E_PEER_MISSING` where it is not installed, `E_PEER_VERSION` for an old version */
export function findViewer(): string {
  expectPeer(PEER);
  // The module exports this function.
  const getFolder = requirePeer(PEER) as () => string;
  return getFolder();
}

export class DocsPage {
  private readonly files = new Map<ViewerFile, Promise<PreparedFile>>();

  /**
   * @param page the path of the page
   * @param document the path of the document
   * @param folder of the viewer
   */
  constructor(
    private readonly page: string,
    private readonly document: string,
    private readonly folder: string,
  ) {}

  /** The page with a new nonce. @param csrf the names of the CSRF stage; `undefined` where it is off */
  render(title: string, csrf: CsrfTokenNames | undefined): Reply {
    const nonce = randomBytes(NONCE_BYTES).toString("base64");
    const [script, style] = VIEWER_FILES.map((name) => this.relate(joinPaths(this.page, name)));
    const attribute = `nonce="${nonce}"`;
    const settings = scriptJson(JSON.stringify({ url: this.relate(this.document), csrf }));
    const body = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" ${attribute} href="${escapeHtml(style ?? "")}">
<style ${attribute}>${STYLE}</style>
</head>
<body>
<main id="viewer"></main>
<script ${attribute} src="${escapeHtml(script ?? "")}"></script>
<script ${attribute}>(${START})(${settings});</script>
</body>
</html>
`;
    return Reply.html(body)
      .header("Content-Security-Policy", createPolicy(nonce))
      .header("Cache-Control", "no-store")
      .header("Referrer-Policy", "no-referrer");
  }

  /** A file of the viewer. */
  async send(name: ViewerFile, ctx: Context): Promise<Reply> {
    const file = this.files.get(name) ?? this.read(name);
    this.files.set(name, file);
    file.catch(() => this.files.delete(name));
    return (await file).respond(ctx);
  }

  private async read(name: ViewerFile): Promise<PreparedFile> {
    const { file, type } = FILES[name];
    return new PreparedFile(await readFile(join(this.folder, file)), type);
  }

  /**
   * A path as the page sees it, also behind a proxy that removes a prefix. It starts with a dot, because a browser reads the text before a
   * colon as a scheme.
   */
  private relate(path: string): string {
    return `./${posix.relative(posix.dirname(this.page), path)}`;
  }
}

/** No request leaves the origin: neither fonts, pictures, nor those of "try it out". */
function createPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/**
 * The document has no links. The viewer has dark texts on the dark background in the tables of headers, and white ones on pale grey for
 * deprecated operations.
 */
const STYLE = `body { margin: 0; }
html.dark-mode { color-scheme: dark; }
html.dark-mode .swagger-ui table.headers td { color: #e4e6e6; }
.swagger-ui table.headers th { padding-right: 1em; }
.swagger-ui .info .title { overflow-wrap: anywhere; }
.swagger-ui .response-col_links { display: none; }
.swagger-ui .opblock.opblock-deprecated { opacity: 1; }
.swagger-ui .opblock.opblock-deprecated .opblock-summary-method { background: #595959; }`;

/**
 * Runs in the browser. The token is that of the cookie, as another script of the application sends it. It goes to no other origin, and the
 * commands that the page shows do not have it.
 */
const START = `function (settings) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", follow);
  follow();
  const addToken = (request) => {
    const { cookie, header } = settings.csrf;
    const found = document.cookie.split("; ").find((each) => each.startsWith(cookie + "="));
    const isOwn = new URL(request.url, location.href).origin === location.origin;
    if (found !== undefined && isOwn) request.headers[header] = found.slice(cookie.length + 1);
    return request;
  };
  SwaggerUIBundle({
    url: settings.url,
    dom_id: "#viewer",
    deepLinking: true,
    validatorUrl: null,
    persistAuthorization: false,
    showMutatedRequest: false,
    showExtensions: true,
    ...(settings.csrf && { requestInterceptor: addToken }),
  });
}`;
