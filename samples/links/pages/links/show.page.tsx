/** One link: where it leads, how often it is followed, and for its owner the way to remove it. */
import { Deferred, Head, Link, router, usePage } from "@inertiajs/react";
import { useState } from "react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { linksShow } from "../../contracts.js";
import { Chart, ChartSkeleton } from "../parts/chart.js";
import { CopyButton } from "../parts/copy-button.js";
import { Field, FieldsForm, PostButton } from "../parts/form.js";
import { Text, useMessages } from "../parts/messages.js";

export function Page({ link, picture, clicks }: PropsOf<typeof linksShow>) {
  const { slug, target, visits, createdAt, isOwn } = link;
  const { host } = usePage().props;
  const { t, tag } = useMessages();
  return (
    <>
      <Head title={slug} />
      <nav aria-label={t("page-back")} className="back">
        <Link href="/">{t("page-all-links")}</Link>
      </nav>
      <section className="card link-head">
        {picture !== undefined && <img className="picture" src={picture} alt="" />}
        <h1>
          <span className="host">{host}/to/</span>
          {slug}
        </h1>
        <p className="target">
          <Text id="page-leads-to" elements={{ target: <a href={target}>{target}</a> }} />
        </p>
        <p className="actions">
          <a className="button small" href={`/to/${slug}`}>
            {t("page-open")}
          </a>
          <CopyButton path={`/to/${slug}`} />
        </p>
        <dl className="facts">
          <div>
            <dt>{t("page-visit-count")}</dt>
            <dd id="visits">{visits.toLocaleString(tag)}</dd>
          </div>
          <div>
            <dt>{t("page-made-on")}</dt>
            <dd>
              <time dateTime={createdAt}>{t("page-date", { at: new Date(createdAt) })}</time>
            </dd>
          </div>
        </dl>
      </section>
      <section className="card" aria-labelledby="clicks">
        <div className="list-head">
          <h2 id="clicks">{t("page-visits-by-day")}</h2>
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
  const { t } = useMessages();
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
      {t("page-refresh")}
    </button>
  );
}

function NewPicture({ slug }: { readonly slug: string }) {
  const { t } = useMessages();
  return (
    <section className="card" aria-labelledby="picture">
      <h2 id="picture">{t("page-picture")}</h2>
      <FieldsForm action={`/links/${slug}/logo`} submit={t("page-upload")} className="new-picture" hasFiles>
        {({ errors }) => (
          <Field
            name="logo"
            label={t("page-picture-rules")}
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
  const { t } = useMessages();
  return (
    <details className="card danger">
      <summary>{t("page-remove-link")}</summary>
      <p>{t("page-remove-link-text")}</p>
      <PostButton action={`/remove/${slug}`} className="button dangerous">
        {t("page-remove-slug", { slug })}
      </PostButton>
    </details>
  );
}
