import { AccountForm, EmailField } from "../parts/account-form.js";

const OTHERS = [{ question: "You know it again?", href: "/account/sign-in", title: "Sign in" }];

export function Page() {
  return (
    <AccountForm title="A new password" action="/account/forgot" submit="Send a link" others={OTHERS}>
      {({ errors }) => (
        <EmailField hint="You get a mail, if it has an account" autoComplete="username" error={errors["email"]} />
      )}
    </AccountForm>
  );
}
