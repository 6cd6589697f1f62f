/**
 * The entry point `@stagecraft/framework/auth/passkeys`: passkeys as sign-in and as second step. Needs the package
 * `@simplewebauthn/server`. If it is missing, `passkeys()` throws `E_PEER_MISSING`, which names the command that installs it.
 */
export {
  PasskeyCeremonies,
  type NewCredential,
  type PasskeyOptionsJson,
  type PasskeyProof,
  type ProofCeremony,
} from "../auth/passkeys/passkey-ceremonies.js";
export { PasskeySettings, type PasskeyOptions } from "../auth/passkeys/passkey-settings.js";
export {
  Passkeys,
  passkeys,
  type ListedPasskey,
  type NewPasskey,
  type PasskeyConfirmation,
  type PasskeyRegistration,
  type PasskeyRemoval,
} from "../auth/passkeys/passkeys.js";
