/** The entry point `@stagecraft/framework/i18n`: languages and their messages. Needs the package `@fluent/bundle`. */
export { Languages, type LanguagesOptions } from "../i18n/languages.js";
export type { Language, MessageId, Messages, MessageValues, ValuesOf } from "../i18n/language.js";
export type { LanguagePageProps } from "../i18n/page-props.js";
export type { PageLocale } from "../stages/pages/document/document-language.js";
