/**
 * The packages in CommonJS that an application needs: Koa, its router, and three that Koa brings with it. They are loaded here by `require`,
 * because an `import` of such a package costs more: Node parses its source a second time, to find the names of the exports.
 */
import Koa = require("koa");
import type * as KoaRouter from "@koa/router";
import type { Router } from "@koa/router" with { "resolution-mode": "import" };
import Cookies = require("cookies");
import mimeTypes = require("mime-types");

// The package has no declarations. Its documentation gives the type.
const vary = require("vary") as { readonly append: (header: string, fields: string) => string };

interface Packages {
  readonly Koa: typeof Koa;
  readonly Router: typeof Router;
  readonly Cookies: typeof Cookies;
  /** The media type of a file name; `false` if its ending is unknown. */
  readonly mediaTypeOf: (name: string) => string | false;
  readonly appendVary: typeof vary.append;
}

const packages: Packages = {
  Koa,
  // Few applications ask for a router.
  get Router() {
    // @koa/router declares its class once for `import` and once for `require`; the framework and its users have the type of the former.
    return (require("@koa/router") as typeof KoaRouter).Router as unknown as typeof Router;
  },
  Cookies,
  mediaTypeOf: mimeTypes.lookup,
  appendVary: vary.append,
};

export = packages;
