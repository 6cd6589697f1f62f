/**
 * The build profile: `"release"` if `NODE_ENV` is `production`, else `"debug"`. It is read once, when the first entry point is imported.
 * The protections of the framework depend on the profile, and not on `APP_ENV`.
 */
export type Profile = "debug" | "release";

/** `undefined` where the variable is unset or empty. @internal */
export const nodeEnv: string | undefined = process.env["NODE_ENV"] || undefined;

export const profile: Profile = nodeEnv === "production" ? "release" : "debug";
