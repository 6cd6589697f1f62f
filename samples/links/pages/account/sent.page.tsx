/** After a form that sends a mail, for every address the same. */
import { Head } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { sent } from "../../contracts.js";

export function Page({ email, needsAccount, mails }: PropsOf<typeof sent>) {
  return (
    <section className="card narrow">
      <Head title="A mail is on its way" />
      <h1>A mail is on its way</h1>
      <p>
        Open the link in the mail to <strong className="address">{email}</strong>.
        {needsAccount && " There is none if the address has no account."}
      </p>
      {mails !== null && (
        <p className="note-box">
          This server sends no mails.{" "}
          {mails.startsWith("/") ? (
            <>
              Yours is on <a href={mails}>the page of all mails</a>.
            </>
          ) : (
            <>
              Yours is a file in the folder <code>{mails}</code>.
            </>
          )}
        </p>
      )}
    </section>
  );
}
