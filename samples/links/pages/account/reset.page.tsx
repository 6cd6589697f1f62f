/** The page that the mail of a reset leads to. */
import { usePage } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { reset } from "../../contracts.js";
import { AccountForm, PasswordField } from "../parts/account-form.js";
import { useMessages } from "../parts/messages.js";

export function Page({ email }: PropsOf<typeof reset>) {
  const { t } = useMessages();
  return (
    <AccountForm
      title={t("page-set-password")}
      lead={<strong className="address">{email}</strong>}
      action={usePage().url}
      submit={t("page-set-it")}
    >
      {({ errors }) => (
        <PasswordField
          label={t("page-new-password-field")}
          hint={t("page-new-password-rules")}
          autoComplete="new-password"
          error={errors["password"]}
        />
      )}
    </AccountForm>
  );
}
