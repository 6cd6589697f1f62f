import { AccountForm, EmailField, PasswordField } from "../parts/account-form.js";
import { useMessages } from "../parts/messages.js";
import { ProviderLink } from "../parts/provider-link.js";

export function Page() {
  const { t } = useMessages();
  const others = [{ question: t("page-account-already"), href: "/account/sign-in", title: t("page-sign-in") }];
  return (
    <AccountForm
      title={t("page-sign-up")}
      action="/account/sign-up"
      others={others}
      after={<ProviderLink text="page-sign-up-with" />}
    >
      {({ errors }) => (
        <>
          <EmailField hint={t("page-mail-with-link")} autoComplete="username" error={errors["email"]} />
          <PasswordField hint={t("page-eight-characters")} autoComplete="new-password" error={errors["password"]} />
        </>
      )}
    </AccountForm>
  );
}
