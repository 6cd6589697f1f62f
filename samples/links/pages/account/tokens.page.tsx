/** The tokens of a person's programs. */
import { usePage } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { tokens as contract } from "../../contracts.js";
import { CopyButton } from "../parts/copy-button.js";
import { Choice, Field, FieldsForm, PostButton } from "../parts/form.js";
import { ProfilePage, Time } from "../parts/profile-page.js";

type Props = PropsOf<typeof contract>;

export function Page({ tokens, created }: Props) {
  return (
    <ProfilePage title="API tokens">
      {created !== undefined && <Created text={created} />}
      <section className="card" aria-labelledby="new">
        <h2 id="new">A new token</h2>
        <p className="aside">A program that sends it acts for you, at /api/own-links.</p>
        <NewToken />
      </section>
      {tokens.length > 0 && (
        <section className="list" aria-labelledby="tokens">
          <h2 id="tokens">Your tokens</h2>
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
  return (
    <section className="card secret" aria-labelledby="created">
      <h2 id="created">Your new token</h2>
      <p>Store it now: it is not shown again.</p>
      <code>{text}</code>
      <CopyButton text={text} />
    </section>
  );
}

function NewToken() {
  const { isAdmin } = usePage().props;
  return (
    <FieldsForm action="/account/tokens" submit="Make a token">
      {({ errors }) => (
        <>
          <Field
            name="name"
            label="Name"
            placeholder="Backup script"
            required
            maxLength={100}
            autoComplete="off"
            error={errors["name"]}
          />
          <Choice label="It may" name="access">
            <option value="read">read your links</option>
            <option value="write">read, make and remove your links</option>
            {isAdmin === true && <option value="maintenance">close and open the site</option>}
          </Choice>
          <Choice label="It ends after" name="days">
            <option value="30">30 days</option>
            <option value="90">90 days</option>
            <option value="365">a year</option>
          </Choice>
        </>
      )}
    </FieldsForm>
  );
}

function Token({ id, name, scopes, expiresAt, lastUsedAt }: Props["tokens"][number]) {
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
            "Not used yet"
          ) : (
            <>
              Last used <Time at={lastUsedAt} />
            </>
          )}
          {expiresAt !== null && (
            <>
              , ends <Time at={expiresAt} />
            </>
          )}
        </p>
      </div>
      <PostButton
        action={`/account/tokens/${id}`}
        className="button ghost small"
        question={`Revoke ${name}? Programs that send it are refused then.`}
      >
        Revoke<span className="visually-hidden"> {name}</span>
      </PostButton>
    </li>
  );
}
