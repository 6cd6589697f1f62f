/** The front page: the list of links, and for people who have signed in the form for a new one. */
import { Head, InfiniteScroll, Link, router, usePage } from "@inertiajs/react";
import { useEffect, useRef, useState } from "react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { linksIndex } from "../../contracts.js";
import { Field, FieldsForm } from "../parts/form.js";
import { LinkRow } from "../parts/link-list.js";
import { Overview } from "../parts/overview.js";

type Props = PropsOf<typeof linksIndex>;

/** A first page longer than this comes by itself; then the reader asks for more, so that the foot of the page can be reached. */
const BY_ITSELF = 4;

export function Page({ links, total, query, overview }: Props) {
  const { account, host } = usePage().props;
  return (
    <>
      <Head title={query === "" ? "" : `Search for ${query}`} />
      {account === null || account === undefined ? <Welcome /> : <NewLink />}
      <section aria-labelledby="all" className="list">
        <div className="list-head">
          <h2 id="all">
            {total.toLocaleString("en")} {total === 1 ? "link" : "links"}
          </h2>
          {(total > 0 || query !== "") && <Search query={query} />}
        </div>
        {links.data.length === 0 ? (
          <p className="empty">{query === "" ? "No links yet: make the first one." : `Nothing matches “${query}”.`}</p>
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
                    {loading ? "Loading…" : "Load more"}
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
  return (
    <section className="hero">
      <h1>Short links, honestly counted.</h1>
      <p className="lead">
        Turn a long address into one that fits on a card. See how often it is followed, day by day. Nobody who follows
        it is tracked.
      </p>
      <p className="actions">
        <Link href="/account/sign-up" className="button">
          Make your first link
        </Link>
        <Link href="/account/sign-in" className="button ghost">
          I have an account
        </Link>
      </p>
    </section>
  );
}

/** A shorter name is still being typed. */
const SHORTEST = 3;

function NewLink() {
  return (
    <section className="card" aria-labelledby="new">
      <h1 id="new">A new link</h1>
      <FieldsForm action="/shorten" submit="Shorten" className="new-link">
        {({ errors, check, isFine }) => (
          <>
            <Field
              name="target"
              label="Long address"
              type="url"
              required
              maxLength={2048}
              placeholder="https://example.com/…"
              autoComplete="off"
              error={errors["target"]}
            />
            <Field
              name="slug"
              label="Name (optional)"
              maxLength={32}
              placeholder="my-link"
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              praise={isFine("slug") ? "That name is free." : undefined}
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
        aria-label="Search links"
        placeholder="Search"
        maxLength={100}
        value={text}
        onChange={(event) => search(event.target.value)}
      />
    </form>
  );
}
