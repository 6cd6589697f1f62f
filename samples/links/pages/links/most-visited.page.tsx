/** The links that most people follow, the first one first. The list changes while it is shown. */
import { Head, Link, usePage } from "@inertiajs/react";
import { useEffect, useState } from "react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { mostVisited } from "../../contracts.js";
import { followRanking } from "../parts/live-ranking.js";
import { LinkRow } from "../parts/link-list.js";
import { useMessages } from "../parts/messages.js";

export function Page({ links: first }: PropsOf<typeof mostVisited>) {
  const { host } = usePage().props;
  const { t } = useMessages();
  const [links, setLinks] = useState(first);
  useEffect(() => followRanking(setLinks), []);
  return (
    <>
      <Head title={t("page-most-visited")} />
      <nav aria-label={t("page-back")} className="back">
        <Link href="/">{t("page-all-links")}</Link>
      </nav>
      <section aria-labelledby="most" className="list">
        <div className="list-head">
          <h1 id="most">{t("page-most-visited")}</h1>
          <p className="aside">{t("page-counted-anew")}</p>
        </div>
        {links.length === 0 ? (
          <p className="empty">{t("page-no-links")}</p>
        ) : (
          <ol className="rows">
            {links.map((link) => (
              <LinkRow key={link.slug} link={link} host={host} />
            ))}
          </ol>
        )}
      </section>
    </>
  );
}
