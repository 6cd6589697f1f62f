/** The frame of the pages of an account: its title, and the way to the others. */
import { Head, Link, usePage } from "@inertiajs/react";
import type { ReactNode } from "react";

const PAGES = [
  ["/account", "Devices"],
  ["/account/security", "Security"],
  ["/account/tokens", "API tokens"],
  ["/account/linked", "Linked accounts"],
] as const;

export function ProfilePage({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const { url, props } = usePage();
  const pages = PAGES.filter(([href]) => href !== "/account/linked" || typeof props.provider === "string");
  // The pages of an app and of the recovery codes are steps of it.
  const current = PAGES.find(([href]) => href === url)?.[0] ?? "/account/security";
  return (
    <>
      <Head title={title} />
      <nav aria-label="Your account" className="tabs">
        {pages.map(([href, name]) => (
          <Link key={href} href={href} aria-current={current === href ? "page" : undefined}>
            {name}
          </Link>
        ))}
      </nav>
      <h1>{title}</h1>
      {children}
    </>
  );
}

const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

/** The same text on the server and in the browser, which have other spaces before `PM`. */
export function Time({ at }: { readonly at: number }) {
  const time = new Date(at);
  return <time dateTime={time.toISOString()}>{TIME.format(time)} UTC</time>;
}
