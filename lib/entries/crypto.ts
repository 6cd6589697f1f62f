/** The entry point `@stagecraft/framework/crypto`: signed URLs and encrypted values, by Node's crypto. It loads no package. */
export { UrlSigner, type UrlSignerOptions, type UrlSigningOptions } from "../crypto/url-signer.js";
export { Encrypter, type DecryptOptions, type EncryptOptions } from "../crypto/encrypter.js";
export type { SecretKey, SecretKeyMaterial } from "../errors/secret-keys.js";
