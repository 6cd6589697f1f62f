/** The frame of every page: the way to its content, the navigation, the messages, and the foot. */
import { Link, usePage } from "@inertiajs/react";
import { useEffect, useRef, type ReactNode } from "react";
import { PostButton } from "./parts/form.js";
import { LanguageSwitch } from "./parts/language-switch.js";
import { Mark } from "./parts/mark.js";
import { useMessages } from "./parts/messages.js";

export function Layout({ children }: { readonly children?: ReactNode }) {
  const { component, url, flash, props } = usePage();
  const { t, tag } = useMessages();
  const main = useRef<HTMLElement>(null);
  // A page that another tab has translated comes without a new document.
  useEffect(() => void (document.documentElement.lang = tag), [tag]);
  useFocusOnNewPage(main, `${component} ${url.split("?")[0] ?? ""}`);
  return (
    <>
      <a className="skip" href="#main">
        {t("page-skip")}
      </a>
      <header className="top">
        <div className="top-inner">
          <Link href="/" className="brand">
            <Mark />
            Links
          </Link>
          <Account />
        </div>
      </header>
      <div role="status" className="flashes">
        {flash.messages?.map(({ level, message }) => (
          <p key={message} className={`flash ${level}`}>
            {message}
          </p>
        ))}
      </div>
      <main id="main" tabIndex={-1} ref={main}>
        {children}
      </main>
      <footer className="foot">
        <p>{t("page-sample")}</p>
        <LanguageSwitch />
        <nav aria-label={t("page-more")}>
          <Link href="/most-visited">{t("page-most-visited")}</Link>
          {props.isAdmin && <Link href="/admin">{t("page-administration")}</Link>}
        </nav>
      </footer>
    </>
  );
}

function Account() {
  const { account } = usePage().props;
  const { t } = useMessages();
  if (account === null || account === undefined)
    return (
      <nav aria-label={t("page-visitor")} className="account">
        <Link href="/account/sign-in" className="quiet">
          {t("page-sign-in")}
        </Link>
        <Link href="/account/sign-up" className="button small">
          {t("page-sign-up")}
        </Link>
      </nav>
    );
  return (
    <nav aria-label={t("page-visitor")} className="account">
      <Link href="/account" className="who">
        <span className="visually-hidden">{t("page-your-account")}: </span>
        {account}
      </Link>
      <PostButton action="/account/sign-out" className="quiet">
        {t("page-sign-out")}
      </PostButton>
    </nav>
  );
}

/** A visit changes the page without a new document, so the keyboard and a screen reader are led to it. */
function useFocusOnNewPage(main: { readonly current: HTMLElement | null }, page: string) {
  const shown = useRef(page);
  useEffect(() => {
    if (shown.current === page) return;
    shown.current = page;
    main.current?.focus({ preventScroll: true });
  }, [main, page]);
}
