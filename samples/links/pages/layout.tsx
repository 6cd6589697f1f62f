/** The frame of every page: the way to its content, the navigation, the messages, and the foot. */
import { Link, usePage } from "@inertiajs/react";
import { useEffect, useRef, type ReactNode } from "react";
import { PostButton } from "./parts/form.js";
import { Mark } from "./parts/mark.js";

export function Layout({ children }: { readonly children?: ReactNode }) {
  const { component, url, flash } = usePage();
  const main = useRef<HTMLElement>(null);
  useFocusOnNewPage(main, `${component} ${url.split("?")[0] ?? ""}`);
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
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
        <p>A sample of Stagecraft.</p>
        <nav aria-label="More">
          <Link href="/most-visited">Most visited</Link>
          {usePage().props.isAdmin && <Link href="/admin">Administration</Link>}
        </nav>
      </footer>
    </>
  );
}

function Account() {
  const { account } = usePage().props;
  if (account === null || account === undefined)
    return (
      <nav aria-label="Account" className="account">
        <Link href="/account/sign-in" className="quiet">
          Sign in
        </Link>
        <Link href="/account/sign-up" className="button small">
          Sign up
        </Link>
      </nav>
    );
  return (
    <nav aria-label="Account" className="account">
      <Link href="/account" className="who">
        <span className="visually-hidden">Your account: </span>
        {account}
      </Link>
      <PostButton action="/account/sign-out" className="quiet">
        Sign out
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
