/** The second step, and the passkeys. */
import { Link, router, usePage } from "@inertiajs/react";
import { useRef } from "react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { security } from "../../contracts.js";
import { Field, PostButton } from "../parts/form.js";
import { useMessages } from "../parts/messages.js";
import { type DeviceResponse, PasskeyButton, useCanUsePasskeys } from "../parts/passkeys.js";
import { ProfilePage } from "../parts/profile-page.js";

type Props = PropsOf<typeof security>;

export function Page({ hasTotp, codes, passkeys }: Props) {
  const { t } = useMessages();
  return (
    <ProfilePage title={t("page-security")}>
      <section className="card" aria-labelledby="app">
        <h2 id="app">{t("page-app")}</h2>
        {hasTotp ? <WithApp codes={codes} /> : <WithoutApp />}
      </section>
      <section className="card" aria-labelledby="passkeys">
        <h2 id="passkeys">{t("page-passkeys")}</h2>
        <p className="aside">{t("page-passkeys-text")}</p>
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
  const { t } = useMessages();
  return (
    <>
      <p className="aside">{t("page-app-without")}</p>
      <div className="actions">
        <Link className="button" href="/account/totp">
          {t("page-app-add")}
        </Link>
      </div>
    </>
  );
}

function WithApp({ codes }: Pick<Props, "codes">) {
  const { t } = useMessages();
  return (
    <>
      <p className="aside">{t("page-app-with", { count: codes })}</p>
      <div className="actions">
        <Link className="button ghost" href="/account/recovery-codes">
          {t("page-new-codes")}
        </Link>
        <PostButton action="/account/totp/remove" className="button dangerous" question={t("page-app-remove-question")}>
          {t("page-app-remove")}
        </PostButton>
      </div>
    </>
  );
}

function Passkey({ id, name, usage }: Props["passkeys"][number]) {
  const { t } = useMessages();
  return (
    <li className="row entry">
      <div className="row-text">
        <strong>{name}</strong>
        <p className="target">{usage === "sign-in" ? t("page-passkey-signs-in") : t("page-passkey-second-step")}</p>
      </div>
      <PostButton
        action={`/account/passkeys/${id}`}
        className="button ghost small"
        question={t("page-remove-question", { name })}
      >
        {t("page-remove")}
        <span className="visually-hidden"> {name}</span>
      </PostButton>
    </li>
  );
}

function NewPasskey() {
  const { errors } = usePage().props;
  const { t } = useMessages();
  const canUse = useCanUsePasskeys();
  const fields = useRef<HTMLDivElement>(null);
  const add = (usage: string) => (response: DeviceResponse) => {
    const field = fields.current?.querySelector("input");
    const name = field?.value.trim() ?? "";
    router.post("/account/passkeys", { usage, response, name: name === "" ? t("page-passkey") : name });
    if (field) field.value = "";
  };
  if (!canUse) return null;
  return (
    <div className="stack" ref={fields}>
      <Field
        name="name"
        label={t("page-passkey-name")}
        placeholder={t("page-passkey-name-example")}
        maxLength={100}
        autoComplete="off"
        error={errors["passkey"]}
      />
      <div className="actions">
        <PasskeyButton ceremony="create" prop="forSignIn" className="button" onResponse={add("sign-in")}>
          {t("page-passkey-add-sign-in")}
        </PasskeyButton>
        <PasskeyButton ceremony="create" prop="forSecondStep" onResponse={add("second-step")}>
          {t("page-passkey-add-second-step")}
        </PasskeyButton>
      </div>
    </div>
  );
}
