/** The links that most people follow, the first one first. The list changes while it is shown. */
import { Head, Link, usePage } from "@inertiajs/react";
import { useEffect, useState } from "react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { mostVisited } from "../../contracts.js";
import { followRanking } from "../parts/live-ranking.js";
import { LinkRow } from "../parts/link-list.js";

export function Page({ links: first }: PropsOf<typeof mostVisited>) {
  const { host } = usePage().props;
  const [links, setLinks] = useState(first);
  useEffect(() => followRanking(setLinks), []);
  return (
    <>
      <Head title="Most visited" />
      <nav aria-label="Back" className="back">
        <Link href="/">All links</Link>
      </nav>
      <section aria-labelledby="most" className="list">
        <div className="list-head">
          <h1 id="most">Most visited</h1>
          <p className="aside">Counted anew every few seconds.</p>
        </div>
        {links.length === 0 ? (
          <p className="empty">No links yet.</p>
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
