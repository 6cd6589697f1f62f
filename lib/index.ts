/** The face of the framework, room by room in the order in which a request walks. */
export * from "./kernel/errors.js";
