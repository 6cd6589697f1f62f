/** The language of a document, if a text of the page was translated for its request. Not for the language that an application fixes. */
import { Extension } from "../../../http/request/extension.js";

export interface PageLocale {
  readonly tag: string;
  readonly dir: "ltr" | "rtl";
}

/** @internal */
export const DocumentLanguage = new Extension<PageLocale>("document language");
