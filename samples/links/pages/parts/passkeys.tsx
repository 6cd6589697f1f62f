/** Passkeys in the browser. The server gives the options of a ceremony as a prop that is asked for alone, and takes the response of the device. */
import type { FormDataConvertible } from "@inertiajs/core";
import { router } from "@inertiajs/react";
import { useEffect, useState, type ReactNode } from "react";
import { useMessages } from "./messages.js";

/** The response of a device, as JSON. */
export type DeviceResponse = Record<string, FormDataConvertible>;

interface PasskeyButtonProps {
  readonly ceremony: "create" | "get";
  /** The prop with the options. */
  readonly prop: string;
  /** Sends the response of the device. */
  readonly onResponse: (response: DeviceResponse) => void;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Whether the browser has passkeys. Without scripts and on the server it has none. */
export function useCanUsePasskeys(): boolean {
  const [canUse, setCanUse] = useState(false);
  useEffect(() => setCanUse("PublicKeyCredential" in window && "toJSON" in PublicKeyCredential.prototype), []);
  return canUse;
}

/** It is not shown where the browser has no passkeys. */
export function PasskeyButton({
  ceremony,
  prop,
  onResponse,
  className = "button ghost",
  children,
}: PasskeyButtonProps) {
  const { t } = useMessages();
  const canUse = useCanUsePasskeys();
  const [state, setState] = useState<"ready" | "busy" | "failed">("ready");
  if (!canUse) return null;
  const start = async () => {
    setState("busy");
    try {
      const options = await askFor(prop);
      if (options !== undefined) onResponse(await CEREMONIES[ceremony](options));
      setState("ready");
    } catch {
      // The person has closed the dialog, the device has no passkey for this site, or has one already.
      setState("failed");
    }
  };
  return (
    <div className="passkey">
      <button type="button" className={className} disabled={state === "busy"} onClick={() => void start()}>
        {children}
      </button>
      <div className="note" role="status">
        {state === "failed" && <p className="fault">{t("page-passkey-failed")}</p>}
      </div>
    </div>
  );
}

/** `undefined` where the server leads to another page. */
function askFor(prop: string): Promise<unknown> {
  return new Promise((resolve) => {
    router.reload({
      only: [prop],
      onSuccess: ({ props }) => resolve((props as Readonly<Record<string, unknown>>)[prop] ?? undefined),
      onFinish: () => resolve(undefined),
    });
  });
}

const CEREMONIES = {
  async create(json: unknown): Promise<DeviceResponse> {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(json as PublicKeyCredentialCreationOptionsJSON);
    return toJson(await navigator.credentials.create({ publicKey }));
  },
  async get(json: unknown): Promise<DeviceResponse> {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(json as PublicKeyCredentialRequestOptionsJSON);
    return toJson(await navigator.credentials.get({ publicKey }));
  },
};

function toJson(credential: Credential | null): DeviceResponse {
  if (!(credential instanceof PublicKeyCredential)) throw new Error("the device has no passkey");
  // JSON of the browser, whose types have no index signature.
  return { ...credential.toJSON() } as unknown as DeviceResponse;
}
