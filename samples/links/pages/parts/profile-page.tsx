/** The frame of the pages of an account: its title, and the way to the others. */
import { Head, Link, usePage } from "@inertiajs/react";
import type { ReactNode } from "react";
import { useMessages } from "./messages.js";

const PAGES = [
  ["/account", "page-devices-tab"],
  ["/account/security", "page-security"],
  ["/account/tokens", "page-tokens"],
  ["/account/linked", "page-linked"],
] as const;

export function ProfilePage({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const { url, props } = usePage();
  const { t } = useMessages();
  const pages = PAGES.filter(([href]) => href !== "/account/linked" || typeof props.provider === "string");
  // The pages of an app and of the recovery codes are steps of it.
  const current = PAGES.find(([href]) => href === url.split("?")[0])?.[0] ?? "/account/security";
  return (
    <>
      <Head title={title} />
      <nav aria-label={t("page-your-account")} className="tabs">
        {pages.map(([href, name]) => (
          <Link key={href} href={href} aria-current={current === href ? "page" : undefined}>
            {t(name)}
          </Link>
        ))}
      </nav>
      <h1>{title}</h1>
      {children}
    </>
  );
}

/** The same text on the server and in the browser: without `PM`, before which they have other spaces. */
export function Time({ at }: { readonly at: number }) {
  const { t } = useMessages();
  const time = new Date(at);
  return <time dateTime={time.toISOString()}>{t("page-time", { at: time })}</time>;
}
