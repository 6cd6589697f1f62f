/** The page for an error, in words for people. */
import { Head, Link } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { errorsShow } from "../../contracts.js";
import { useMessages } from "../parts/messages.js";

/** The statuses with messages of their own. */
const KNOWN: ReadonlySet<number> = new Set([403, 404, 422, 429, 503]);

export function Page({ status }: PropsOf<typeof errorsShow>) {
  const { t } = useMessages();
  const kind = KNOWN.has(status) ? status : status < 500 ? "4xx" : "5xx";
  const title = t(`page-error-${kind}`);
  return (
    <section className="problem">
      <Head title={title} />
      <p className="code" aria-hidden="true">
        {status}
      </p>
      <h1>{title}</h1>
      <p className="lead">{t(`page-error-${kind}-text`)}</p>
      <p className="actions">
        {status === 503 ? (
          <a className="button" href="">
            {t("page-try-again")}
          </a>
        ) : (
          <Link className="button" href="/">
            {t("page-to-the-links")}
          </Link>
        )}
      </p>
    </section>
  );
}
