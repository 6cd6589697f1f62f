import { Head, Link } from "@inertiajs/react";
import { Field, FieldsForm } from "../parts/form.js";

export function Page() {
  return (
    <section className="card narrow">
      <Head title="Sign up" />
      <h1>Sign up</h1>
      <FieldsForm action="/account/sign-up" submit="Sign up">
        {({ name, password }) => (
          <>
            <Field
              name="name"
              label="Name"
              hint="3 to 32 lower-case letters, digits or hyphens"
              required
              maxLength={32}
              autoComplete="username"
              autoCapitalize="none"
              spellCheck={false}
              error={name}
            />
            <Field
              name="password"
              label="Password"
              hint="At least 8 characters"
              type="password"
              required
              maxLength={200}
              autoComplete="new-password"
              error={password}
            />
          </>
        )}
      </FieldsForm>
      <p className="aside">
        An account already? <Link href="/account/sign-in">Sign in</Link>
      </p>
    </section>
  );
}
