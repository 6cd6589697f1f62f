import { router } from "@inertiajs/react";
import type { PropsOf } from "@stagecraft/framework/pages";
import type { secondStep } from "../../contracts.js";
import { AccountForm, CodeField } from "../parts/account-form.js";
import { useMessages } from "../parts/messages.js";
import { type DeviceResponse, PasskeyButton } from "../parts/passkeys.js";

export function Page({ hasTotp, hasPasskey }: PropsOf<typeof secondStep>) {
  const { t } = useMessages();
  const others = [{ question: t("page-not-you"), href: "/account/sign-in", title: t("page-start-again") }];
  return (
    <AccountForm
      title={t("page-second-step")}
      lead={hasTotp ? t("page-second-step-app") : t("page-second-step-passkey")}
      action="/account/second-step"
      submit={t("page-go-on")}
      others={others}
      after={hasPasskey && <ByPasskey />}
    >
      {({ errors }) => <CodeField hint={t("page-or-recovery-code")} error={errors["code"]} />}
    </AccountForm>
  );
}

const send = (response: DeviceResponse) => router.post("/account/second-step/passkey", { response });

function ByPasskey() {
  const { t } = useMessages();
  return (
    <PasskeyButton ceremony="get" prop="passkey" onResponse={send}>
      {t("page-use-passkey")}
    </PasskeyButton>
  );
}
