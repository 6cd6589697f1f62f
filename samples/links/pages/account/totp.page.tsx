/** An app as second step: its secret is shown once, and its first code adds it. */
import { usePage } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { totp } from "../../contracts.js";
import { CodeField } from "../parts/account-form.js";
import { CopyButton } from "../parts/copy-button.js";
import { FieldsForm, PostButton } from "../parts/form.js";
import { ProfilePage } from "../parts/profile-page.js";

export function Page({ secret, uri }: PropsOf<typeof totp>) {
  // A wrong code leads here without the secret, which the app has already.
  const hasStarted = secret !== undefined || usePage().props.errors["code"] !== undefined;
  return (
    <ProfilePage title="Add an authenticator app">
      <section className="card">
        {secret !== undefined && (
          <>
            <p>Add this key to your app, or open the link below it on your phone. It is not shown again.</p>
            <Secret label="Key" text={secret.replaceAll(/(.{4})(?=.)/g, "$1 ")} copied={secret} />
            <Secret label="Link" text={uri ?? ""} href={uri} />
          </>
        )}
        {hasStarted ? (
          <FieldsForm action="/account/totp" submit="Add the app">
            {({ errors }) => <CodeField hint="The six digits that the app shows now" error={errors["code"]} />}
          </FieldsForm>
        ) : (
          <p className="aside">
            You need an app such as Aegis, FreeOTP, 2FAS or Google Authenticator. The next page shows a key for it.
          </p>
        )}
        <div className="actions">
          <PostButton action="/account/totp" className={hasStarted ? "button ghost" : "button"}>
            {hasStarted ? "Start again with a new key" : "Show the key"}
          </PostButton>
        </div>
      </section>
    </ProfilePage>
  );
}

interface SecretProps {
  readonly label: string;
  readonly text: string;
  readonly copied?: string;
  readonly href?: string | undefined;
}

function Secret({ label, text, copied = text, href }: SecretProps) {
  return (
    <div className="secret">
      <h2>{label}</h2>
      <code>{href === undefined ? text : <a href={href}>{text}</a>}</code>
      <CopyButton text={copied} />
    </div>
  );
}
