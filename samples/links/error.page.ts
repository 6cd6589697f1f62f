import { STATUS_CODES } from "node:http";
import { CspNonce, Reply, type Context } from "@stagecraft/framework";
import { document } from "./document.js";
import { home } from "./links.routes.js";

/** People get a page, unless they were given one already; programs the problem document that is there. */
export function errorPage(status: number, ctx: Context): Reply | undefined {
  if (ctx.type === "text/html" || ctx.accepts("json", "html") !== "html") return undefined;
  const title = STATUS_CODES[status] ?? "Error";
  const body = `<p>Something about this request did not work out (${status}).</p>
<p><a href="${home.index.url()}">To the links</a></p>`;
  return Reply.html(document(title, body, CspNonce.find(ctx)), status);
}
