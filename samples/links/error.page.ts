import { STATUS_CODES } from "node:http";
import { CspNonce, Reply, type Context } from "@stagecraft/framework";
import { document } from "./document.js";
import { home } from "./links.routes.js";

/** Errors are never cached. Browsers get a page; programs get the problem document. */
export function errorPage(_error: unknown, ctx: Context): Reply | undefined {
  ctx.set("Cache-Control", "no-store");
  ctx.vary("Accept");
  if (ctx.accepts("json", "html") !== "html") return undefined;
  const { status } = ctx;
  const body = `<p>${wordsFor(status)}</p>
<p><a href="${home.index.url()}">To the links</a></p>`;
  return Reply.html(document(STATUS_CODES[status] ?? "Error", body, CspNonce.find(ctx)), status);
}

function wordsFor(status: number): string {
  if (status === 404) return "There is nothing at this address, or no longer.";
  if (status === 429) return "Those were many requests at once. Please wait a moment.";
  if (status === 503) return "We are not there right now. Please try again shortly.";
  return status < 500 ? "This request cannot be answered as it is." : "Something went wrong on our side.";
}
