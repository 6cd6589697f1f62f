import { AccountForm, EmailField } from "../parts/account-form.js";
import { useMessages } from "../parts/messages.js";

export function Page() {
  const { t } = useMessages();
  const others = [{ question: t("page-know-again"), href: "/account/sign-in", title: t("page-sign-in") }];
  return (
    <AccountForm title={t("page-new-password")} action="/account/forgot" submit={t("page-send-link")} others={others}>
      {({ errors }) => <EmailField hint={t("page-mail-if-account")} autoComplete="username" error={errors["email"]} />}
    </AccountForm>
  );
}
