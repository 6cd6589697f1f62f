/** The entry point `@stagecraft/framework/session`: sessions, flash and CSRF protection. It loads no package. */
export { Session } from "../stages/session/session.js";
export { Sessions, type EndAllOptions, type OwnedSession } from "../stages/session/sessions.js";
export { SessionConfig, type SessionOptions } from "../stages/session/session-config.js";
export { sessionKey, type SessionKey } from "../stages/session/session-value.js";
export type { SecretKey, SecretKeyMaterial, SecretKeyMaterial as SessionKeyMaterial } from "../errors/secret-keys.js";
export { Flash } from "../stages/session/flash.js";
export type { FieldMessages, FlashContent, FlashLevel, FlashMessage } from "../stages/session/flash-port.js";
export { MemorySessionStore, type MemorySessionStoreOptions } from "../stages/session/stores/memory-session-store.js";
export {
  MAX_LISTED_SESSIONS,
  NO_CHANGES,
  OWNER_NAME,
  REMEMBER_ENDED_MS,
  RENEW_AFTER_MS,
  SessionStore,
  type Awaitable,
  type UpdatedSession,
  type SessionChanges,
  type SessionTimes,
  type SessionUpdate,
  type SessionValues,
  type StoredSession,
} from "../stages/session/stores/session-store.js";
export { CsrfConfig } from "../stages/csrf/csrf-config.js";
export type { ExpiredMessage } from "../stages/csrf/csrf-layer.js";
export { CsrfToken } from "../stages/csrf/csrf-token.js";
export type { SameSite } from "../http/request/cookie.js";
