/**
 * The build profile, read once when the first entry point is imported: `"release"` where `NODE_ENV` is `production`, else `"debug"`.
 * Protections key off it; `APP_ENV` never counts.
 */
export type Profile = "debug" | "release";

export const profile: Profile = process.env["NODE_ENV"] === "production" ? "release" : "debug";
