/** The scenarios of a translated text, apart so that no other scenario loads languages. */

import { Application, type Context, provide, Route, Routes } from "@stagecraft/framework";
import { Languages } from "@stagecraft/framework/i18n";
import { HELLO } from "../fixtures.js";

const languages = new Languages({
  default: "en",
  catalogs: { en: "fixed = Fallback\nfilled = Fallback", de: `fixed = ${HELLO}\nfilled = { $start }{ $end }` },
});

function createApplication(handler: (ctx: Context) => unknown) {
  return Application.create()
    .provide(provide(Languages).useValue(languages))
    .routes(new Routes([Route.get("/", handler)]));
}

/** A text without a value. */
export function translated() {
  return createApplication(async (ctx) => (await languages.of(ctx)).t("fixed"));
}

/** A text with two values. */
export function filled() {
  const values = { start: HELLO.slice(0, 2), end: HELLO.slice(2) };
  return createApplication(async (ctx) => (await languages.of(ctx)).t("filled", values));
}
