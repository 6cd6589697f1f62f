/** The languages of the sample. Their messages are the files in `locales`; pages get those whose names start with `page-`. */
import { fileURLToPath } from "node:url";
import { type Context, NotFoundError } from "@stagecraft/framework";
import { Languages, type MessageValues } from "@stagecraft/framework/i18n";
import { Flash } from "@stagecraft/framework/session";

export const LOCALES = fileURLToPath(new URL("../../../samples/links/locales", import.meta.url));

/** A mail is created from its data alone, so it imports the languages, as everything else here does. */
export const languages = new Languages({ folder: LOCALES, default: "en" });

/** A text in the language of the request. */
export async function translate(ctx: Context, id: string, values?: MessageValues): Promise<string> {
  return (await languages.of(ctx)).t(id, values);
}

/** Adds a message to the next page. */
export async function say(
  ctx: Context,
  level: "success" | "info" | "warning" | "error",
  id: string,
  values?: MessageValues,
): Promise<void> {
  const text = await translate(ctx, id, values);
  Flash.of(ctx)[level](text);
}

/** The error of a link that does not exist, or not for this visitor. */
export async function createNoLinkError(ctx: Context, slug: string): Promise<NotFoundError> {
  return new NotFoundError(await translate(ctx, "no-link", { slug }));
}
