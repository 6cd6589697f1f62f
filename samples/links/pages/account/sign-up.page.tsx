import { AccountForm, EmailField, PasswordField } from "../parts/account-form.js";
import { ProviderLink } from "../parts/provider-link.js";

const OTHERS = [{ question: "An account already?", href: "/account/sign-in", title: "Sign in" }];

export function Page() {
  return (
    <AccountForm title="Sign up" action="/account/sign-up" others={OTHERS} after={<ProviderLink text="Sign up with" />}>
      {({ errors }) => (
        <>
          <EmailField hint="You get a mail with a link" autoComplete="username" error={errors["email"]} />
          <PasswordField hint="At least 8 characters" autoComplete="new-password" error={errors["password"]} />
        </>
      )}
    </AccountForm>
  );
}
