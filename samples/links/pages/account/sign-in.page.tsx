import { router } from "@inertiajs/react";
import { AccountForm, EmailField, PasswordField } from "../parts/account-form.js";
import { type DeviceResponse, PasskeyButton } from "../parts/passkeys.js";
import { ProviderLink } from "../parts/provider-link.js";

const OTHERS = [
  { question: "No account yet?", href: "/account/sign-up", title: "Sign up" },
  { question: "Your password is lost?", href: "/account/forgot", title: "Set a new one" },
];

export function Page() {
  return (
    <AccountForm
      title="Sign in"
      action="/account/sign-in"
      others={OTHERS}
      after={
        <>
          <ByPasskey />
          <ProviderLink text="Sign in with" />
        </>
      }
    >
      {({ errors }) => (
        <>
          <EmailField autoComplete="username" error={errors["email"]} />
          <PasswordField autoComplete="current-password" error={errors["password"]} />
          <label className="check">
            <input type="checkbox" name="remember" />
            Stay signed in on this device
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
  return (
    <PasskeyButton ceremony="get" prop="passkey" onResponse={send}>
      Sign in with a passkey
    </PasskeyButton>
  );
}
