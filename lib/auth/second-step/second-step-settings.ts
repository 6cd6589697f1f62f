/** The options of `secondStep()`, checked. */
import { checkOptionNames } from "../../errors/option-names.js";
import { createSetupError } from "../../errors/setup-error.js";

export interface SecondStepOptions {
  /** The name of the application, as an authenticator app shows it: 1 to 64 characters, without a colon. */
  readonly issuer: string;
}

const OPTIONS = { issuer: true } as const;
const ISSUER = /^[^:]{1,64}$/;

export class SecondStepSettings {
  readonly issuer: string;

  /** @throws FrameworkError `E_OPTION`, `E_AUTH_OPTION` */
  constructor(options: SecondStepOptions) {
    checkOptionNames(options, OPTIONS, "secondStep");
    // A JavaScript caller may pass any value.
    const issuer: unknown = Object(options).issuer;
    if (typeof issuer !== "string" || !ISSUER.test(issuer) || !issuer.isWellFormed())
      throw createSetupError(
        "E_AUTH_OPTION",
        "secondStep({ issuer }) takes the name of the application, without a colon",
      );
    this.issuer = issuer;
  }
}
