import { AccountForm, NameField, PasswordField } from "../parts/account-form.js";

const SIGN_UP = { question: "No account yet?", href: "/account/sign-up", title: "Sign up" };

export function Page() {
  return (
    <AccountForm title="Sign in" action="/account/sign-in" other={SIGN_UP}>
      {({ errors }) => (
        <>
          <NameField error={errors["name"]} />
          <PasswordField autoComplete="current-password" error={errors["password"]} />
        </>
      )}
    </AccountForm>
  );
}
