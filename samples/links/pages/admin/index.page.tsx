/** For administrators: the figures, the switch for maintenance, and the newest links. */
import { Head, usePage, usePoll } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { adminIndex } from "../../contracts.js";
import { PostButton } from "../parts/form.js";
import { LinkRow } from "../parts/link-list.js";

const EVERY_MS = 10_000;

export function Page({ isClosed, figures, newest }: PropsOf<typeof adminIndex>) {
  const { host } = usePage().props;
  usePoll(EVERY_MS, { only: ["figures"] });
  return (
    <>
      <Head title="Administration" />
      <h1>Administration</h1>
      <dl className="facts card">
        <Figure name="Links" value={figures.links.toLocaleString("en")} />
        <Figure name="Visits" value={figures.visits.toLocaleString("en")} />
        <Figure name="Running for" value={duration(figures.uptimeSeconds)} />
      </dl>
      <section className="card" aria-labelledby="switch">
        <h2 id="switch">{isClosed ? "The site is closed" : "The site is open"}</h2>
        <p>
          {isClosed
            ? "Visitors see a page that says so. This page and the health checks stay open."
            : "While it is closed, visitors see a page that says so. This page stays open."}
        </p>
        {isClosed ? (
          <PostButton action="/admin/open" className="button">
            Open the site
          </PostButton>
        ) : (
          <PostButton action="/admin/close" className="button dangerous">
            Close the site
          </PostButton>
        )}
      </section>
      <section aria-labelledby="newest" className="list">
        <h2 id="newest">Newest links</h2>
        {newest.length === 0 ? (
          <p className="empty">There are none.</p>
        ) : (
          <ul className="rows">
            {newest.map((link) => (
              <LinkRow key={link.slug} link={link} host={host}>
                <PostButton
                  action={`/admin/remove/${link.slug}`}
                  className="button ghost small"
                  question={`Remove ${link.slug}? People who follow it then find nothing.`}
                >
                  Remove<span className="visually-hidden"> {link.slug}</span>
                </PostButton>
              </LinkRow>
            ))}
          </ul>
        )}
      </section>
    </>
  );
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function duration(seconds: number): string {
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min`;
}
