/** The tokens of a person's programs. */
import { usePage } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { tokens as contract } from "../../contracts.js";
import { CopyButton } from "../parts/copy-button.js";
import { Choice, Field, FieldsForm, PostButton } from "../parts/form.js";
import { Text, useMessages } from "../parts/messages.js";
import { ProfilePage, Time } from "../parts/profile-page.js";

type Props = PropsOf<typeof contract>;

export function Page({ tokens, created }: Props) {
  const { t } = useMessages();
  return (
    <ProfilePage title={t("page-tokens")}>
      {created !== undefined && <Created text={created} />}
      <section className="card" aria-labelledby="new">
        <h2 id="new">{t("page-token-new")}</h2>
        <p className="aside">{t("page-token-new-text", { path: "/api/own-links" })}</p>
        <NewToken />
      </section>
      {tokens.length > 0 && (
        <section className="list" aria-labelledby="tokens">
          <h2 id="tokens">{t("page-tokens-yours")}</h2>
          <ul className="rows">
            {tokens.map((token) => (
              <Token key={token.id} {...token} />
            ))}
          </ul>
        </section>
      )}
    </ProfilePage>
  );
}

function Created({ text }: { readonly text: string }) {
  const { t } = useMessages();
  return (
    <section className="card secret" aria-labelledby="created">
      <h2 id="created">{t("page-token-created")}</h2>
      <p>{t("page-token-created-text")}</p>
      <code>{text}</code>
      <CopyButton text={text} />
    </section>
  );
}

function NewToken() {
  const { isAdmin } = usePage().props;
  const { t } = useMessages();
  return (
    <FieldsForm action="/account/tokens" submit={t("page-token-make")}>
      {({ errors }) => (
        <>
          <Field
            name="name"
            label={t("page-token-name")}
            placeholder={t("page-token-name-example")}
            required
            maxLength={100}
            autoComplete="off"
            error={errors["name"]}
          />
          <Choice label={t("page-token-may")} name="access">
            <option value="read">{t("page-token-may-read")}</option>
            <option value="write">{t("page-token-may-write")}</option>
            {isAdmin === true && <option value="maintenance">{t("page-token-may-close")}</option>}
          </Choice>
          <Choice label={t("page-token-ends-after")} name="days">
            <option value="30">{t("page-token-days", { days: 30 })}</option>
            <option value="90">{t("page-token-days", { days: 90 })}</option>
            <option value="365">{t("page-token-year")}</option>
          </Choice>
        </>
      )}
    </FieldsForm>
  );
}

function Token({ id, name, scopes, expiresAt, lastUsedAt }: Props["tokens"][number]) {
  const { t } = useMessages();
  return (
    <li className="row entry">
      <div className="row-text">
        <strong>{name}</strong>
        {scopes.map((scope) => (
          <span key={scope} className="tag">
            {scope}
          </span>
        ))}
        <p className="target">
          {lastUsedAt === null ? (
            t("page-token-unused")
          ) : (
            <Text id="page-token-used" elements={{ time: <Time at={lastUsedAt} /> }} />
          )}
          {expiresAt !== null && (
            <>
              , <Text id="page-token-ends" elements={{ time: <Time at={expiresAt} /> }} />
            </>
          )}
        </p>
      </div>
      <PostButton
        action={`/account/tokens/${id}`}
        className="button ghost small"
        question={t("page-revoke-question", { name })}
      >
        {t("page-revoke")}
        <span className="visually-hidden"> {name}</span>
      </PostButton>
    </li>
  );
}
