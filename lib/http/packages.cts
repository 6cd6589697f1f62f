/**
 * The packages in CommonJS that a request needs: Koa, and two that Koa brings with it. They are loaded here by `require`, because an
 * `import` of such a package costs more: Node parses its source a second time, to find the names of the exports.
 */
import Koa = require("koa");
import Cookies = require("cookies");
import mimeTypes = require("mime-types");

interface Packages {
  readonly Koa: typeof Koa;
  readonly Cookies: typeof Cookies;
  /** The media type of a file name; `false` if its ending is unknown. */
  readonly mediaTypeOf: (name: string) => string | false;
}

const packages: Packages = { Koa, Cookies, mediaTypeOf: mimeTypes.lookup };

export = packages;
