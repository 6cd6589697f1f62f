/** Links as rows: the short address, its target, the visits, and a way to the page of the link. */
import { Link } from "@inertiajs/react";
import type { ReactNode } from "react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { linksShow } from "../../contracts.js";
import { Text, useMessages } from "./messages.js";

export type ListedLink = PropsOf<typeof linksShow>["link"];

interface RowProps {
  readonly link: Pick<ListedLink, "slug" | "target" | "visits"> & Partial<Pick<ListedLink, "isOwn">>;
  readonly host: string | undefined;
  readonly children?: ReactNode;
}

export function LinkRow({ link: { slug, target, visits, isOwn }, host, children }: RowProps) {
  const { t, tag } = useMessages();
  return (
    <li className="row">
      <div className="row-text">
        <a className="short" href={`/to/${slug}`}>
          <span className="host">{host}/to/</span>
          {slug}
        </a>
        {isOwn === true && <span className="tag">{t("page-yours")}</span>}
        <p className="target">{target}</p>
      </div>
      <p className="visits">
        <Text
          id="page-visits"
          values={{ count: visits }}
          elements={{ number: <strong>{visits.toLocaleString(tag)}</strong> }}
        />
      </p>
      {children ?? (
        <Link className="more" href={`/links/${slug}`} aria-label={t("page-details-of", { slug })}>
          {t("page-details")}
        </Link>
      )}
    </li>
  );
}
