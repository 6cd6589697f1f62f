/** The page of a form for an account, and the fields that several of these forms have. */
import { Head, Link } from "@inertiajs/react";
import type { ReactNode } from "react";
import { Field, FieldsForm, type FieldProps, type FieldsState } from "./form.js";
import { useMessages } from "./messages.js";

interface AccountFormProps {
  readonly title: string;
  /** Before the fields. */
  readonly lead?: ReactNode;
  readonly action: string;
  /** The label of the button; the title unless set. */
  readonly submit?: string;
  /** The links for people who wanted another form. */
  readonly others?: readonly { readonly question: string; readonly href: string; readonly title: string }[];
  /** After the form. */
  readonly after?: ReactNode;
  readonly children: (form: FieldsState) => ReactNode;
}

export function AccountForm({ title, lead, action, submit = title, others = [], after, children }: AccountFormProps) {
  return (
    <section className="card narrow">
      <Head title={title} />
      <h1>{title}</h1>
      {lead !== undefined && <p className="aside">{lead}</p>}
      <FieldsForm action={action} submit={submit}>
        {children}
      </FieldsForm>
      {after}
      {others.map(({ question, href, title: text }) => (
        <p key={href} className="aside">
          {question} <Link href={href}>{text}</Link>
        </p>
      ))}
    </section>
  );
}

type OwnProps = Omit<FieldProps, "name" | "label"> & { readonly label?: string };

export function EmailField(props: OwnProps) {
  const { t } = useMessages();
  return <Field name="email" label={t("page-email")} type="email" required maxLength={254} {...props} />;
}

export function PasswordField(props: OwnProps) {
  const { t } = useMessages();
  return <Field name="password" label={t("page-password")} type="password" required {...props} />;
}

/** A code that a person types or pastes. */
export function CodeField(props: OwnProps) {
  const { t } = useMessages();
  return (
    <Field
      name="code"
      label={t("page-code")}
      required
      maxLength={64}
      autoComplete="one-time-code"
      autoCapitalize="none"
      spellCheck={false}
      {...props}
    />
  );
}
