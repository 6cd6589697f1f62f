/** An app as second step: its secret is shown once, and its first code adds it. */
import { usePage } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { totp } from "../../contracts.js";
import { CodeField } from "../parts/account-form.js";
import { CopyButton } from "../parts/copy-button.js";
import { FieldsForm, PostButton } from "../parts/form.js";
import { useMessages } from "../parts/messages.js";
import { ProfilePage } from "../parts/profile-page.js";

export function Page({ secret, uri }: PropsOf<typeof totp>) {
  const { t } = useMessages();
  // A wrong code leads here without the secret, which the app has already.
  const hasStarted = secret !== undefined || usePage().props.errors["code"] !== undefined;
  return (
    <ProfilePage title={t("page-app-new")}>
      <section className="card">
        {secret !== undefined && (
          <>
            <p>{t("page-app-key-text")}</p>
            <Secret label={t("page-app-key")} text={secret.replaceAll(/(.{4})(?=.)/g, "$1 ")} copied={secret} />
            <Secret label={t("page-app-link")} text={uri ?? ""} href={uri} />
          </>
        )}
        {hasStarted ? (
          <FieldsForm action="/account/totp" submit={t("page-app-add-this")}>
            {({ errors }) => <CodeField hint={t("page-app-code-hint")} error={errors["code"]} />}
          </FieldsForm>
        ) : (
          <p className="aside">{t("page-app-which")}</p>
        )}
        <div className="actions">
          <PostButton action="/account/totp" className={hasStarted ? "button ghost" : "button"}>
            {hasStarted ? t("page-app-new-key") : t("page-app-show-key")}
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
