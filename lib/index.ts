/** The face of the framework, room by room in the order in which a request walks. */
export * from "./kernel/errors.js";
export { Clock, SystemClock, type Timer } from "./kernel/clock.js";
export { Context, type FormFields } from "./kernel/context.js";
export { Extension } from "./kernel/extension.js";
export { Layer, type KoaMiddleware, type Next } from "./kernel/middleware.js";
export { Problem, PROBLEM_CONTENT_TYPE } from "./kernel/problem.js";
export { profile, type Profile } from "./kernel/profile.js";
export { Reply } from "./kernel/reply.js";
export { StartupError, type Finding } from "./kernel/startup-error.js";
export { CorsLayer } from "./edge/cors.js";
export type { CorsOptions, OriginPredicate } from "./edge/cors-options.js";
export { CspNonce } from "./edge/csp-nonce.js";
export { SecurityHeaders } from "./edge/security-headers.js";
export { CatchPanicLayer } from "./admission/catch-panic.js";
export { STAGES, type Slot, type Stage, type StageKind } from "./pipeline/table.js";
export type { StageRow } from "./pipeline/pipeline.js";
