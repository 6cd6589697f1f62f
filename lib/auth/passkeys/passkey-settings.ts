/** The options of `passkeys()`, checked. */
import { checkOptionNames } from "../../errors/option-names.js";
import { createSetupError } from "../../errors/setup-error.js";
import { findOrigin } from "../../http/request/origin.js";

export interface PasskeyOptions {
  /** The name of the application, as devices show it: 1 to 64 characters. */
  readonly name: string;
  /** The domain of the passkeys, by default the host of the configured URL. After a change the passkeys until now are lost. */
  readonly rpId?: string;
  /** The origins of the pages, by default that of the configured URL. */
  readonly origins?: readonly string[];
}

const OPTIONS = { name: true, rpId: true, origins: true } as const;

export class PasskeySettings {
  readonly name: string;
  readonly rpId: string | undefined;
  readonly origins: readonly string[] | undefined;

  /** @throws FrameworkError `E_OPTION`, `E_AUTH_OPTION` */
  constructor(options: PasskeyOptions) {
    checkOptionNames(options, OPTIONS, "passkeys");
    // A JavaScript caller may pass any value.
    const { name, origins }: { readonly name?: unknown; readonly origins?: unknown } = Object(options);
    if (typeof name !== "string" || name === "" || name.length > 64)
      throw createSetupError("E_AUTH_OPTION", "passkeys({ name }) takes the name of the application");
    const isList = Array.isArray(origins) && origins.length > 0;
    if (
      origins !== undefined &&
      !(isList && origins.every((each) => typeof each === "string" && findOrigin(each) === each))
    )
      throw createSetupError("E_AUTH_OPTION", 'passkeys({ origins }) takes origins: ["https://shop.example"]');
    if (options.rpId !== undefined && !isDomain(options.rpId))
      throw createSetupError("E_AUTH_OPTION", 'passkeys({ rpId }) takes a domain: "shop.example"');
    this.name = name;
    this.rpId = options.rpId;
    this.origins = options.origins;
  }
}

/** A host name as URLs spell it, without a scheme, a port and a path. */
function isDomain(text: unknown): boolean {
  const url = `https://${String(text)}`;
  return URL.canParse(url) && new URL(url).hostname === text;
}
