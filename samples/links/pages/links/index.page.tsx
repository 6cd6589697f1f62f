/** The front page: the list of links, and for people who have signed in the form for a new one. */
import { Head, InfiniteScroll, Link, router, usePage } from "@inertiajs/react";
import { useEffect, useRef, useState } from "react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { linksIndex } from "../../contracts.js";
import { Field, FieldsForm } from "../parts/form.js";
import { LinkRow } from "../parts/link-list.js";
import { useMessages } from "../parts/messages.js";
import { Overview } from "../parts/overview.js";

type Props = PropsOf<typeof linksIndex>;

/** A first page longer than this comes by itself; then the reader asks for more, so that the foot of the page can be reached. */
const BY_ITSELF = 4;

export function Page({ links, total, query, overview }: Props) {
  const { account, host } = usePage().props;
  const { t } = useMessages();
  return (
    <>
      <Head title={query === "" ? "" : t("page-search-for", { query })} />
      {account === null || account === undefined ? <Welcome /> : <NewLink />}
      <section aria-labelledby="all" className="list">
        <div className="list-head">
          <h2 id="all">{t("page-links", { count: total })}</h2>
          {(total > 0 || query !== "") && <Search query={query} />}
        </div>
        {links.data.length === 0 ? (
          <p className="empty">{query === "" ? t("page-no-links-first") : t("page-no-match", { query })}</p>
        ) : (
          <InfiniteScroll
            data="links"
            as="ul"
            className="rows"
            buffer={200}
            manualAfter={BY_ITSELF}
            preserveUrl
            next={({ fetch, hasMore, loading, manualMode }) =>
              hasMore &&
              (manualMode || loading) && (
                <li className="further">
                  <button type="button" className="button ghost" disabled={loading} onClick={fetch}>
                    {loading ? t("page-loading") : t("page-load-more")}
                  </button>
                </li>
              )
            }
          >
            {links.data.map((link) => (
              <LinkRow key={link.slug} link={link} host={host} />
            ))}
          </InfiniteScroll>
        )}
      </section>
      {overview !== undefined && <Overview {...overview} />}
    </>
  );
}

function Welcome() {
  const { t } = useMessages();
  return (
    <section className="hero">
      <h1>{t("page-welcome")}</h1>
      <p className="lead">{t("page-welcome-text")}</p>
      <p className="actions">
        <Link href="/account/sign-up" className="button">
          {t("page-first-link")}
        </Link>
        <Link href="/account/sign-in" className="button ghost">
          {t("page-have-account")}
        </Link>
      </p>
    </section>
  );
}

/** A shorter name is still being typed. */
const SHORTEST = 3;

function NewLink() {
  const { t } = useMessages();
  return (
    <section className="card" aria-labelledby="new">
      <h1 id="new">{t("page-new-link")}</h1>
      <FieldsForm action="/shorten" submit={t("page-shorten")} className="new-link">
        {({ errors, check, isFine }) => (
          <>
            <Field
              name="target"
              label={t("page-long-address")}
              type="url"
              required
              maxLength={2048}
              placeholder="https://example.com/…"
              autoComplete="off"
              error={errors["target"]}
            />
            <Field
              name="slug"
              label={t("page-name-optional")}
              maxLength={32}
              placeholder={t("page-name-example")}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              praise={isFine("slug") ? t("page-name-free") : undefined}
              error={errors["slug"]}
              onChange={({ currentTarget }) =>
                (currentTarget.value.length >= SHORTEST || isFine("slug")) && check("slug")
              }
            />
          </>
        )}
      </FieldsForm>
    </section>
  );
}

const PAUSE_MS = 250;

/** Searches while the reader types: only the list and its number are asked for. Without scripts it is a form. */
function Search({ query }: { readonly query: string }) {
  const { t } = useMessages();
  const [text, setText] = useState(query);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const search = (q: string) => {
    setText(q);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const data = q.trim() === "" ? {} : { q };
      router.get("/", data, {
        only: ["links", "query", "total"],
        reset: ["links"],
        preserveState: true,
        preserveScroll: true,
        replace: true,
      });
    }, PAUSE_MS);
  };
  return (
    <form role="search" action="/" className="search" onSubmit={(event) => event.preventDefault()}>
      <input
        type="search"
        name="q"
        aria-label={t("page-search-links")}
        placeholder={t("page-search")}
        maxLength={100}
        value={text}
        onChange={(event) => search(event.target.value)}
      />
    </form>
  );
}
