/** For administrators: the figures, the switch for maintenance, and the newest links. */
import { Head, usePage, usePoll } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { adminIndex } from "../../contracts.js";
import { PostButton } from "../parts/form.js";
import { LinkRow } from "../parts/link-list.js";
import { type Messages, useMessages } from "../parts/messages.js";

const EVERY_MS = 10_000;

export function Page({ isClosed, figures, newest }: PropsOf<typeof adminIndex>) {
  const { host } = usePage().props;
  const { t, tag } = useMessages();
  usePoll(EVERY_MS, { only: ["figures"] });
  return (
    <>
      <Head title={t("page-administration")} />
      <h1>{t("page-administration")}</h1>
      <dl className="facts card">
        <Figure name={t("page-figure-links")} value={figures.links.toLocaleString(tag)} />
        <Figure name={t("page-figure-visits")} value={figures.visits.toLocaleString(tag)} />
        <Figure name={t("page-figure-uptime")} value={formatDuration(t, figures.uptimeSeconds)} />
      </dl>
      <section className="card" aria-labelledby="switch">
        <h2 id="switch">{isClosed ? t("page-site-closed") : t("page-site-open")}</h2>
        <p>{isClosed ? t("page-site-closed-text") : t("page-site-open-text")}</p>
        {isClosed ? (
          <PostButton action="/admin/open" className="button">
            {t("page-open-site")}
          </PostButton>
        ) : (
          <PostButton action="/admin/close" className="button dangerous">
            {t("page-close-site")}
          </PostButton>
        )}
      </section>
      <section aria-labelledby="newest" className="list">
        <h2 id="newest">{t("page-newest-links")}</h2>
        {newest.length === 0 ? (
          <p className="empty">{t("page-none")}</p>
        ) : (
          <ul className="rows">
            {newest.map((link) => (
              <LinkRow key={link.slug} link={link} host={host}>
                <PostButton
                  action={`/admin/remove/${link.slug}`}
                  className="button ghost small"
                  question={t("page-remove-link-question", { slug: link.slug })}
                >
                  {t("page-remove")}
                  <span className="visually-hidden"> {link.slug}</span>
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

function formatDuration(t: Messages["t"], seconds: number): string {
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return t("page-uptime-days", { days, hours });
  return hours > 0 ? t("page-uptime-hours", { hours, minutes }) : t("page-uptime-minutes", { minutes });
}
