/** The shared props of pages about the language. A front end formats the messages with the same package, with `new FluentResource(messages)`. */
import type { Context } from "../http/request/context.js";
import type { PageLocale } from "../stages/pages/document/document-language.js";
import { once, type Prop } from "../stages/pages/props/prop.js";
import type { Language } from "./language.js";

/** The value of the option `share` of `new Pages`, or a part of it. */
// An interface has no index signature, which the option of an application without declared props asks for.
// oxlint-disable-next-line typescript/consistent-type-definitions
export type LanguagePageProps = {
  readonly locale: (ctx: Context) => Promise<PageLocale>;
  readonly messages: (ctx: Context) => Promise<Prop<string, "present">>;
};

export function createPageProps(find: (ctx: Context) => Promise<Language>, prefix: string): LanguagePageProps {
  return {
    locale: async (ctx) => {
      const { tag, dir } = await find(ctx);
      return { tag, dir };
    },
    messages: async (ctx) => {
      const { source, key } = (await find(ctx)).getPageMessages(prefix);
      return once(source).once(key);
    },
  };
}
