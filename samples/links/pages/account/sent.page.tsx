/** After a form that sends a mail, for every address the same. */
import { Head } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { sent } from "../../contracts.js";
import { Text, useMessages } from "../parts/messages.js";

export function Page({ email, needsAccount, mails }: PropsOf<typeof sent>) {
  const { t } = useMessages();
  return (
    <section className="card narrow">
      <Head title={t("page-sent")} />
      <h1>{t("page-sent")}</h1>
      <p>
        <Text id="page-sent-to" elements={{ email: <strong className="address">{email}</strong> }} />
        {needsAccount && ` ${t("page-sent-if-account")}`}
      </p>
      {mails !== null && (
        <p className="note-box">
          {t("page-sent-nowhere")}{" "}
          {mails.startsWith("/") ? (
            <Text id="page-sent-on-page" elements={{ page: <a href={mails}>{t("page-sent-all-mails")}</a> }} />
          ) : (
            <Text id="page-sent-in-folder" elements={{ folder: <code>{mails}</code> }} />
          )}
        </p>
      )}
    </section>
  );
}
