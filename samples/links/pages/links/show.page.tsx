/** One link: where it leads, how often it is followed, and for its owner the way to remove it. */
import { Deferred, Head, Link, router, usePage } from "@inertiajs/react";
import { useState } from "react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { linksShow } from "../../contracts.js";
import { Chart, ChartSkeleton } from "../parts/chart.js";
import { CopyButton } from "../parts/copy-button.js";
import { Field, FieldsForm, PostButton } from "../parts/form.js";

const DATE = new Intl.DateTimeFormat("en", { dateStyle: "long", timeZone: "UTC" });

export function Page({ link, picture, clicks }: PropsOf<typeof linksShow>) {
  const { slug, target, visits, createdAt, isOwn } = link;
  const { host } = usePage().props;
  return (
    <>
      <Head title={slug} />
      <nav aria-label="Back" className="back">
        <Link href="/">All links</Link>
      </nav>
      <section className="card link-head">
        {picture !== undefined && <img className="picture" src={picture} alt="" />}
        <h1>
          <span className="host">{host}/to/</span>
          {slug}
        </h1>
        <p className="target">
          leads to <a href={target}>{target}</a>
        </p>
        <p className="actions">
          <a className="button small" href={`/to/${slug}`}>
            Open
          </a>
          <CopyButton path={`/to/${slug}`} />
        </p>
        <dl className="facts">
          <div>
            <dt>Visits</dt>
            <dd id="visits">{visits.toLocaleString("en")}</dd>
          </div>
          <div>
            <dt>Made on</dt>
            <dd>
              <time dateTime={createdAt}>{DATE.format(new Date(createdAt))}</time>
            </dd>
          </div>
        </dl>
      </section>
      <section className="card" aria-labelledby="clicks">
        <div className="list-head">
          <h2 id="clicks">Visits by day</h2>
          <Refresh />
        </div>
        <Deferred data="clicks" fallback={<ChartSkeleton />}>
          {() => <Chart days={clicks ?? []} />}
        </Deferred>
      </section>
      {isOwn && <NewPicture slug={slug} />}
      {isOwn && <Removal slug={slug} />}
    </>
  );
}

/** Asks for the numbers alone. */
function Refresh() {
  const [isLoading, setLoading] = useState(false);
  return (
    <button
      type="button"
      className="button ghost small"
      disabled={isLoading}
      onClick={() =>
        router.reload({
          only: ["link", "clicks"],
          onStart: () => setLoading(true),
          onFinish: () => setLoading(false),
        })
      }
    >
      Refresh
    </button>
  );
}

function NewPicture({ slug }: { readonly slug: string }) {
  return (
    <section className="card" aria-labelledby="picture">
      <h2 id="picture">Picture</h2>
      <FieldsForm action={`/links/${slug}/logo`} submit="Upload" className="new-picture" hasFiles>
        {({ errors }) => (
          <Field
            name="logo"
            label="A PNG, JPEG, GIF or WebP file of at most 256 KiB"
            type="file"
            accept="image/png,image/jpeg,image/gif,image/webp"
            required
            error={errors["logo"]}
          />
        )}
      </FieldsForm>
    </section>
  );
}

/** Two steps, with or without scripts. */
function Removal({ slug }: { readonly slug: string }) {
  return (
    <details className="card danger">
      <summary>Remove this link</summary>
      <p>People who follow it then find nothing. This cannot be undone.</p>
      <PostButton action={`/remove/${slug}`} className="button dangerous">
        Remove {slug}
      </PostButton>
    </details>
  );
}
