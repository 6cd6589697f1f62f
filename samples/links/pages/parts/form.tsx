/** Forms that work before the script has loaded, and without scripts: the server answers both with the same redirect. */
import type { FormComponentRef } from "@inertiajs/core";
import { Form, usePage } from "@inertiajs/react";
import { useEffect, useId, useRef, type InputHTMLAttributes, type ReactNode } from "react";

interface FieldsProps {
  readonly action: string;
  /** The label of the button. */
  readonly submit: string;
  readonly className?: string;
  readonly children: (errors: Readonly<Record<string, string | undefined>>) => ReactNode;
}

/** A form with fields. After a refusal the first wrong field has the focus; after success the form is empty again. */
export function FieldsForm({ action, submit, className = "stack", children }: FieldsProps) {
  const given = usePage().props.errors;
  const form = useRef<FormComponentRef>(null);
  return (
    <Form
      ref={form}
      action={action}
      method="post"
      className={className}
      options={{ preserveScroll: true }}
      noValidate
      onSuccess={({ flash }) => {
        // An expired page leads back with a message, and has no errors. The next try has the same input.
        if (!flash.messages?.some(({ level }) => level === "error")) form.current?.reset();
      }}
    >
      {({ errors, processing }) => (
        <>
          <TokenWithoutScripts />
          {children({ ...given, ...errors })}
          <FocusOnFault errors={errors} />
          <button className="button" disabled={processing} aria-busy={processing}>
            {submit}
          </button>
        </>
      )}
    </Form>
  );
}

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly error: string | undefined;
}

/** A field with its label, and below it a hint, or what is wrong with the input. */
export function Field({ label, hint, error, name, type, ...rest }: FieldProps) {
  const id = useId();
  const { entered } = usePage().props;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        type={type}
        defaultValue={type === "password" ? undefined : entered?.[name]}
        aria-invalid={error !== undefined || undefined}
        aria-describedby={hint === undefined && error === undefined ? undefined : `${id}-note`}
        {...rest}
      />
      {(error ?? hint) !== undefined && (
        <p id={`${id}-note`} className={error === undefined ? "hint" : "fault"}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
}

interface PostButtonProps {
  readonly action: string;
  readonly className: string;
  readonly children: ReactNode;
}

/** A button that changes something on the server: a form without fields. */
export function PostButton({ action, className, children }: PostButtonProps) {
  return (
    <Form action={action} method="post" className="inline">
      {({ processing }) => (
        <>
          <TokenWithoutScripts />
          <button className={className} disabled={processing}>
            {children}
          </button>
        </>
      )}
    </Form>
  );
}

/** The client's script sends the token of the cookie in a header. */
function TokenWithoutScripts() {
  const { token } = usePage().props;
  if (token === undefined) return null;
  return (
    <noscript>
      <input type="hidden" name="_token" value={token} />
    </noscript>
  );
}

function FocusOnFault({ errors }: { readonly errors: object }) {
  const here = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (Object.keys(errors).length > 0)
      here.current?.closest("form")?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [errors]);
  return <span ref={here} hidden />;
}
