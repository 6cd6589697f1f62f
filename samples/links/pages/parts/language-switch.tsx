/** The choice of a language. Links of the browser, so the document comes anew: its language is an attribute of its first element. */
import { usePage } from "@inertiajs/react";
import { useMessages } from "./messages.js";

/** Each in its own words. */
const LANGUAGES = [
  ["en", "English"],
  ["de", "Deutsch"],
] as const;

export function LanguageSwitch() {
  const { t, tag } = useMessages();
  const { url } = usePage();
  return (
    <nav aria-label={t("page-language")}>
      {LANGUAGES.map(([each, name]) => (
        <a
          key={each}
          href={toHref(each, url)}
          lang={each}
          hrefLang={each}
          aria-current={each === tag ? "true" : undefined}
        >
          {name}
        </a>
      ))}
    </nav>
  );
}

/** The way back has no language: that of the session would not count beside it. */
function toHref(tag: string, url: string): string {
  const [path = "/", query = ""] = url.split("?");
  const rest = new URLSearchParams(query);
  rest.delete("lang");
  const to = rest.size === 0 ? path : `${path}?${rest}`;
  return `/language?${new URLSearchParams({ lang: tag, to })}`;
}
