/** The page that the mail of a reset leads to. */
import { usePage } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { reset } from "../../contracts.js";
import { AccountForm, PasswordField } from "../parts/account-form.js";

export function Page({ email }: PropsOf<typeof reset>) {
  return (
    <AccountForm
      title="Set a new password"
      lead={<strong className="address">{email}</strong>}
      action={usePage().url}
      submit="Set it"
    >
      {({ errors }) => (
        <PasswordField
          label="New password"
          hint="At least 8 characters. You are signed out everywhere"
          autoComplete="new-password"
          error={errors["password"]}
        />
      )}
    </AccountForm>
  );
}
