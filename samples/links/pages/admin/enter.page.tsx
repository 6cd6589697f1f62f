import { Head } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { adminEnter } from "../../contracts.js";
import { Field, FieldsForm } from "../parts/form.js";

export function Page({ hasKey }: PropsOf<typeof adminEnter>) {
  return (
    <section className="card narrow">
      <Head title="For operators" />
      <h1>For operators</h1>
      {hasKey ? (
        <FieldsForm action="/admin/enter" submit="Enter">
          {({ errors }) => (
            <Field
              name="key"
              label="Admin key"
              hint="The value of ADMIN_KEY"
              type="password"
              required
              maxLength={200}
              autoComplete="current-password"
              error={errors["key"]}
            />
          )}
        </FieldsForm>
      ) : (
        <p>
          Start the application with <code>ADMIN_KEY</code> to use this page.
        </p>
      )}
    </section>
  );
}
