/** The parts of every page with a form: flash messages, the token, and for each field its error and what was entered before. */
import { CspNonce, type Context } from "@stagecraft/framework";
import { CsrfToken, Flash, type FlashContent } from "@stagecraft/framework/session";
import { document, escape } from "./document.js";

/** What a page shows of the request before it. */
export interface Attempted {
  readonly flash: FlashContent;
  readonly token: CsrfToken;
  readonly nonce: CspNonce | undefined;
}

export async function attemptedBefore(ctx: Context): Promise<Attempted> {
  return { flash: await Flash.of(ctx).take(), token: CsrfToken.of(ctx), nonce: CspNonce.find(ctx) };
}

export function page(title: string, body: string, { nonce }: Attempted): string {
  return document(title, body, nonce);
}

/** `role="status"` has a screen reader say it. */
export function flashes({ flash: { messages } }: Attempted): string {
  return messages.map(({ level, message }) => `<p role="status" class="${level}">${escape(message)}</p>\n`).join("");
}

/** The error stands in the label of its field, so that a screen reader reads both. */
export function fault(attempted: Attempted, name: string): string {
  const text = faultOf(attempted, name);
  return text === undefined ? "" : `<strong>${escape(text)}</strong> `;
}

/** The attributes of a field: what was entered, and whether it was refused. */
export function field(attempted: Attempted, name: string): string {
  const entered = attempted.flash.input[name];
  const value = typeof entered === "string" && entered !== "" ? ` value="${escape(entered)}"` : "";
  return faultOf(attempted, name) === undefined ? value : `${value} aria-invalid="true" autofocus`;
}

function faultOf({ flash: { errors } }: Attempted, name: string): string | undefined {
  const messages = errors["default"]?.[name];
  return typeof messages === "string" ? messages : messages?.[0];
}
