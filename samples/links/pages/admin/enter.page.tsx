import { Head } from "@inertiajs/react";
import { Field, FieldsForm } from "../parts/form.js";

export function Page() {
  return (
    <section className="card narrow">
      <Head title="For operators" />
      <h1>For operators</h1>
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
    </section>
  );
}
