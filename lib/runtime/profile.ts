/**
 * The build profile: `"release"` if `NODE_ENV` is `production`, else `"debug"`. It is read once, when the first entry point is imported.
 * The profile decides what the framework protects; `APP_ENV` does not.
 */
export type Profile = "debug" | "release";

export const profile: Profile = process.env["NODE_ENV"] === "production" ? "release" : "debug";
