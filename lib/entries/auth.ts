/** The entry point `@stagecraft/framework/auth`: hashes of passwords. */
export {
  Passwords,
  type PasswordOptions,
  type PasswordsOptions,
  type ScryptCost,
} from "../auth/passwords/passwords.js";
export { MAX_PASSWORD_BYTES } from "../auth/passwords/password-bytes.js";
