import { router } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { secondStep } from "../../contracts.js";
import { AccountForm, CodeField } from "../parts/account-form.js";
import { type DeviceResponse, PasskeyButton } from "../parts/passkeys.js";

const OTHERS = [{ question: "Not you?", href: "/account/sign-in", title: "Start again" }];

export function Page({ hasTotp, hasPasskey }: PropsOf<typeof secondStep>) {
  return (
    <AccountForm
      title="Second step"
      lead={hasTotp ? "One step is left: the code of your app." : "One step is left: your passkey."}
      action="/account/second-step"
      submit="Go on"
      others={OTHERS}
      after={hasPasskey && <ByPasskey />}
    >
      {({ errors }) => <CodeField hint="Or one of your recovery codes" error={errors["code"]} />}
    </AccountForm>
  );
}

const send = (response: DeviceResponse) => router.post("/account/second-step/passkey", { response });

function ByPasskey() {
  return (
    <PasskeyButton ceremony="get" prop="passkey" onResponse={send}>
      Use a passkey
    </PasskeyButton>
  );
}
