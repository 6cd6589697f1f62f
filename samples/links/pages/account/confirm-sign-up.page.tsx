/** The page that the mail of a sign-up leads to. Only its form spends the link. */
import { usePage } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { confirmSignUp } from "../../contracts.js";
import { AccountForm, PasswordField } from "../parts/account-form.js";
import { useMessages } from "../parts/messages.js";

export function Page({ email, needsPassword }: PropsOf<typeof confirmSignUp>) {
  const { t } = useMessages();
  return (
    <AccountForm
      title={t("page-confirm-address")}
      lead={<strong className="address">{email}</strong>}
      action={usePage().url}
      submit={t("page-confirm")}
    >
      {({ errors }) =>
        needsPassword && (
          <PasswordField
            hint={t("page-password-of-sign-up")}
            autoComplete="current-password"
            error={errors["password"]}
          />
        )
      }
    </AccountForm>
  );
}
