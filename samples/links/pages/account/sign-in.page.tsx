import { router } from "@inertiajs/react";
import { AccountForm, EmailField, PasswordField } from "../parts/account-form.js";
import { useMessages } from "../parts/messages.js";
import { type DeviceResponse, PasskeyButton } from "../parts/passkeys.js";
import { ProviderLink } from "../parts/provider-link.js";

export function Page() {
  const { t } = useMessages();
  const others = [
    { question: t("page-no-account-yet"), href: "/account/sign-up", title: t("page-sign-up") },
    { question: t("page-password-lost"), href: "/account/forgot", title: t("page-set-new-password") },
  ];
  return (
    <AccountForm
      title={t("page-sign-in")}
      action="/account/sign-in"
      others={others}
      after={
        <>
          <ByPasskey />
          <ProviderLink text="page-sign-in-with" />
        </>
      }
    >
      {({ errors }) => (
        <>
          <EmailField autoComplete="username" error={errors["email"]} />
          <PasswordField autoComplete="current-password" error={errors["password"]} />
          <label className="check">
            <input type="checkbox" name="remember" />
            {t("page-stay-signed-in")}
          </label>
        </>
      )}
    </AccountForm>
  );
}

function send(response: DeviceResponse) {
  const remember = document.querySelector<HTMLInputElement>("input[name=remember]");
  router.post("/account/passkey", { response, ...(remember?.checked === true && { remember: "on" }) });
}

function ByPasskey() {
  const { t } = useMessages();
  return (
    <PasskeyButton ceremony="get" prop="passkey" onResponse={send}>
      {t("page-sign-in-with-passkey")}
    </PasskeyButton>
  );
}
