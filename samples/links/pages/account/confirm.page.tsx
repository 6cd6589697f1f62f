import { Head, Link } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { confirm } from "../../contracts.js";
import { AccountForm, PasswordField } from "../parts/account-form.js";
import { Text, useMessages } from "../parts/messages.js";
import { ProviderLink } from "../parts/provider-link.js";

export function Page({ hasPassword }: PropsOf<typeof confirm>) {
  const { t } = useMessages();
  if (!hasPassword) return <WithoutPassword />;
  return (
    <AccountForm
      title={t("page-password-again")}
      lead={t("page-careful")}
      action="/account/confirm"
      submit={t("page-go-on")}
    >
      {({ errors }) => <PasswordField autoComplete="current-password" error={errors["password"]} />}
    </AccountForm>
  );
}

/** A person who has signed up at the provider. */
function WithoutPassword() {
  const { t } = useMessages();
  return (
    <section className="card narrow">
      <Head title={t("page-sign-in-again")} />
      <h1>{t("page-sign-in-again")}</h1>
      <p className="aside">{t("page-careful")}</p>
      <ProviderLink text="page-sign-in-with" />
      <p className="aside">
        <Text
          id="page-or-set-password"
          elements={{ link: <Link href="/account/forgot">{t("page-or-set-password-link")}</Link> }}
        />
      </p>
    </section>
  );
}
