/** The second step, and the passkeys. */
import { Link, router, usePage } from "@inertiajs/react";
import { useRef } from "react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { security } from "../../contracts.js";
import { Field, PostButton } from "../parts/form.js";
import { type DeviceResponse, PasskeyButton, useCanUsePasskeys } from "../parts/passkeys.js";
import { ProfilePage } from "../parts/profile-page.js";

type Props = PropsOf<typeof security>;

export function Page({ hasTotp, codes, passkeys }: Props) {
  return (
    <ProfilePage title="Security">
      <section className="card" aria-labelledby="app">
        <h2 id="app">Authenticator app</h2>
        {hasTotp ? <WithApp codes={codes} /> : <WithoutApp />}
      </section>
      <section className="card" aria-labelledby="passkeys">
        <h2 id="passkeys">Passkeys</h2>
        <p className="aside">
          A key on your device, which asks for a finger, a face or a PIN. With it you sign in without a password, or
          after the password as a second step.
        </p>
        {passkeys.length > 0 && (
          <ul className="rows flat">
            {passkeys.map((passkey) => (
              <Passkey key={passkey.id} {...passkey} />
            ))}
          </ul>
        )}
        <NewPasskey />
      </section>
    </ProfilePage>
  );
}

function WithoutApp() {
  return (
    <>
      <p className="aside">After your password, a sign-in asks for a code that an app on your phone shows.</p>
      <div className="actions">
        <Link className="button" href="/account/totp">
          Add an app
        </Link>
      </div>
    </>
  );
}

function WithApp({ codes }: Pick<Props, "codes">) {
  return (
    <>
      <p className="aside">
        A sign-in asks for its code. You have {codes} recovery {codes === 1 ? "code" : "codes"} for the day on which you
        have no phone.
      </p>
      <div className="actions">
        <Link className="button ghost" href="/account/recovery-codes">
          New recovery codes
        </Link>
        <PostButton
          action="/account/totp/remove"
          className="button dangerous"
          question="Remove the app? Then your password alone signs you in."
        >
          Remove the app
        </PostButton>
      </div>
    </>
  );
}

function Passkey({ id, name, usage }: Props["passkeys"][number]) {
  return (
    <li className="row entry">
      <div className="row-text">
        <strong>{name}</strong>
        <p className="target">{usage === "sign-in" ? "Signs you in" : "Is your second step"}</p>
      </div>
      <PostButton action={`/account/passkeys/${id}`} className="button ghost small" question={`Remove ${name}?`}>
        Remove<span className="visually-hidden"> {name}</span>
      </PostButton>
    </li>
  );
}

function NewPasskey() {
  const { errors } = usePage().props;
  const canUse = useCanUsePasskeys();
  const fields = useRef<HTMLDivElement>(null);
  const add = (usage: string) => (response: DeviceResponse) => {
    const field = fields.current?.querySelector("input");
    const name = field?.value.trim() ?? "";
    router.post("/account/passkeys", { usage, response, name: name === "" ? "Passkey" : name });
    if (field) field.value = "";
  };
  if (!canUse) return null;
  return (
    <div className="stack" ref={fields}>
      <Field
        name="name"
        label="Name of a new passkey"
        placeholder="Phone"
        maxLength={100}
        autoComplete="off"
        error={errors["passkey"]}
      />
      <div className="actions">
        <PasskeyButton ceremony="create" prop="forSignIn" className="button" onResponse={add("sign-in")}>
          Add to sign in
        </PasskeyButton>
        <PasskeyButton ceremony="create" prop="forSecondStep" onResponse={add("second-step")}>
          Add as second step
        </PasskeyButton>
      </div>
    </div>
  );
}
