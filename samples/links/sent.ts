/** What a form has sent: as JSON from the pages, urlencoded from a browser without scripts. */
import type { Context, Schema } from "@stagecraft/framework";

export function sent<T>(ctx: Context<string>, schema: Schema<unknown, T>): Promise<T> {
  return ctx.get("content-type").startsWith("application/json") ? ctx.json(schema) : ctx.form(schema);
}
