import { Head, Link } from "@inertiajs/react";
import { Field, FieldsForm } from "../parts/form.js";

export function Page() {
  return (
    <section className="card narrow">
      <Head title="Sign in" />
      <h1>Sign in</h1>
      <FieldsForm action="/account/sign-in" submit="Sign in">
        {({ name, password }) => (
          <>
            <Field
              name="name"
              label="Name"
              required
              maxLength={32}
              autoComplete="username"
              autoCapitalize="none"
              error={name}
            />
            <Field
              name="password"
              label="Password"
              type="password"
              required
              maxLength={200}
              autoComplete="current-password"
              error={password}
            />
          </>
        )}
      </FieldsForm>
      <p className="aside">
        No account yet? <Link href="/account/sign-up">Sign up</Link>
      </p>
    </section>
  );
}
