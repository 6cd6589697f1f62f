/** The page that the mail of a sign-up leads to. Only its form spends the link. */
import { usePage } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { confirmSignUp } from "../../contracts.js";
import { AccountForm, PasswordField } from "../parts/account-form.js";

export function Page({ email, needsPassword }: PropsOf<typeof confirmSignUp>) {
  return (
    <AccountForm
      title="Confirm your address"
      lead={<strong className="address">{email}</strong>}
      action={usePage().url}
      submit="Confirm"
    >
      {({ errors }) =>
        needsPassword && (
          <PasswordField
            hint="That of the sign-up, because this is another browser"
            autoComplete="current-password"
            error={errors["password"]}
          />
        )
      }
    </AccountForm>
  );
}
