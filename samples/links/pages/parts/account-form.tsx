/** The page of a form for an account, and the fields that signing in and signing up have in common. */
import { Head, Link } from "@inertiajs/react";
import type { ReactNode } from "react";
import { Field, FieldsForm, type FieldProps, type FieldsState } from "./form.js";

interface AccountFormProps {
  /** The title of the page, and the label of the button. */
  readonly title: string;
  readonly action: string;
  /** The link for people who wanted the other form. */
  readonly other: { readonly question: string; readonly href: string; readonly title: string };
  readonly children: (form: FieldsState) => ReactNode;
}

export function AccountForm({ title, action, other, children }: AccountFormProps) {
  return (
    <section className="card narrow">
      <Head title={title} />
      <h1>{title}</h1>
      <FieldsForm action={action} submit={title}>
        {children}
      </FieldsForm>
      <p className="aside">
        {other.question} <Link href={other.href}>{other.title}</Link>
      </p>
    </section>
  );
}

type OwnProps = Omit<FieldProps, "name" | "label">;

export function NameField(props: OwnProps) {
  return (
    <Field
      name="name"
      label="Name"
      required
      maxLength={32}
      autoComplete="username"
      autoCapitalize="none"
      spellCheck={false}
      {...props}
    />
  );
}

export function PasswordField(props: OwnProps) {
  return <Field name="password" label="Password" type="password" required maxLength={200} {...props} />;
}
