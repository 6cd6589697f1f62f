import { AccountForm, PasswordField } from "../parts/account-form.js";

export function Page() {
  return (
    <AccountForm
      title="Your password again"
      lead="Before a page that an unlocked device must not open alone."
      action="/account/confirm"
      submit="Go on"
    >
      {({ errors }) => <PasswordField autoComplete="current-password" error={errors["password"]} />}
    </AccountForm>
  );
}
