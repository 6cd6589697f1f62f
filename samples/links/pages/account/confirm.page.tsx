import { Head, Link } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { confirm } from "../../contracts.js";
import { AccountForm, PasswordField } from "../parts/account-form.js";
import { ProviderLink } from "../parts/provider-link.js";

const LEAD = "Before a page that an unlocked device must not open alone.";

export function Page({ hasPassword }: PropsOf<typeof confirm>) {
  if (!hasPassword) return <WithoutPassword />;
  return (
    <AccountForm title="Your password again" lead={LEAD} action="/account/confirm" submit="Go on">
      {({ errors }) => <PasswordField autoComplete="current-password" error={errors["password"]} />}
    </AccountForm>
  );
}

/** A person who has signed up at the provider. */
function WithoutPassword() {
  return (
    <section className="card narrow">
      <Head title="Sign in again" />
      <h1>Sign in again</h1>
      <p className="aside">{LEAD}</p>
      <ProviderLink text="Sign in with" />
      <p className="aside">
        Or <Link href="/account/forgot">set a password</Link>.
      </p>
    </section>
  );
}
