/** Forms that work before the script has loaded, and without scripts: the server responds to both with the same redirect. */
import type { FormComponentRef } from "@inertiajs/core";
import { Form, usePage } from "@inertiajs/react";
import { useEffect, useId, useRef, useState, type InputHTMLAttributes, type ReactNode } from "react";

/** The state of the fields of a form, by their names. */
export interface FieldsState {
  readonly errors: Readonly<Record<string, string | undefined>>;
  /** Asks the server whether the field is right, before the form is sent. Its route needs `precognitive(schema)`. */
  readonly check: (field: string) => void;
  /** Whether the server has said so. */
  readonly isFine: (field: string) => boolean;
}

interface FieldsProps {
  readonly action: string;
  /** The label of the button. */
  readonly submit: string;
  readonly className?: string;
  /** A browser without scripts needs this for the encoding of the form. */
  readonly hasFiles?: boolean;
  readonly children: (form: FieldsState) => ReactNode;
}

/** The pause of a person who types, after which a field is checked. */
const PAUSE_MS = 300;

/** Of an expired page or session the form itself tells, when it is sent. */
const QUIET = { onForbidden: () => undefined, onUnauthorized: () => undefined };

/** A form with fields. After a refusal the first wrong field has the focus; after success the form is empty again. */
export function FieldsForm({ action, submit, className = "stack", hasFiles = false, children }: FieldsProps) {
  const given = usePage().props.errors;
  const form = useRef<FormComponentRef>(null);
  const [refusals, setRefusals] = useState(0);
  return (
    <Form
      ref={form}
      action={action}
      method="post"
      encType={hasFiles ? "multipart/form-data" : undefined}
      className={className}
      options={{ preserveScroll: "errors" }}
      validationTimeout={PAUSE_MS}
      noValidate
      onError={() => setRefusals((count) => count + 1)}
      onSuccess={({ flash }) => {
        // An expired page leads back with a message, and has no errors. The next try has the same input.
        if (!flash.messages?.some(({ level }) => level === "error")) form.current?.reset();
      }}
    >
      {({ errors, processing, validate, valid }) => (
        <>
          <TokenWithoutScripts />
          {children({
            errors: { ...without(given, valid), ...errors },
            check: (field) => validate(field, QUIET),
            isFine: valid,
          })}
          <FocusOnFault refusals={refusals} />
          <button className="button" disabled={processing} aria-busy={processing}>
            {submit}
          </button>
        </>
      )}
    </Form>
  );
}

export interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** In the place of the hint: the server has said that the input is right. */
  readonly praise?: string | undefined;
  readonly error: string | undefined;
}

/** A field with its label, and below it a hint, or the fault of the input. */
export function Field({ label, hint, praise, error, name, type, ...rest }: FieldProps) {
  const id = useId();
  const { entered } = usePage().props;
  const note = error ?? praise ?? hint;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        type={type}
        defaultValue={type === "password" ? undefined : entered?.[name]}
        aria-invalid={error !== undefined || undefined}
        aria-describedby={note === undefined ? undefined : `${id}-note`}
        {...rest}
      />
      <div className="note" aria-live="polite">
        {note !== undefined && (
          <p id={`${id}-note`} className={error !== undefined ? "fault" : praise !== undefined ? "praise" : "hint"}>
            {note}
          </p>
        )}
      </div>
    </div>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  /** The options, of which the first one is chosen. */
  readonly children: ReactNode;
}

export function Choice({ name, label, children }: ChoiceProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} name={name}>
        {children}
      </select>
    </div>
  );
}

interface PostButtonProps {
  readonly action: string;
  readonly className: string;
  /** The question before the action. Without scripts it is not asked. */
  readonly question?: string;
  readonly children: ReactNode;
}

/** A button that changes something on the server: a form without fields. */
export function PostButton({ action, className, question, children }: PostButtonProps) {
  return (
    <Form
      action={action}
      method="post"
      className="inline"
      onBefore={() => question === undefined || window.confirm(question)}
    >
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

/** The faults that came with the page, except those that are corrected since. */
function without(faults: FieldsState["errors"], isMended: (field: string) => boolean): FieldsState["errors"] {
  return Object.fromEntries(Object.entries(faults).filter(([field]) => !isMended(field)));
}

/** Not for a fault that is shown while the person types: another field may have the focus by then. */
function FocusOnFault({ refusals }: { readonly refusals: number }) {
  const here = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (refusals > 0) here.current?.closest("form")?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [refusals]);
  return <span ref={here} hidden />;
}
