import { STATUS_CODES } from "node:http";
import { CspNonce, Reply, type Context } from "@stagecraft/framework";
import { document } from "./document.js";

/** People get a page, programs the problem document that is there already. */
export function errorPage(status: number, ctx: Context): Reply | undefined {
  if (ctx.accepts("json", "html") !== "html") return undefined;
  const title = STATUS_CODES[status] ?? "Error";
  return Reply.html(
    document(title, `<p>Something about this request did not work out (${status}).</p>`, CspNonce.find(ctx)),
    status,
  );
}
