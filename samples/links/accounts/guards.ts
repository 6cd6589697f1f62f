/** Who may call an endpoint, as values that a front end may import. Providers have their code: `Visitors`, `Accounts`, `Insiders`. */
import { guard } from "@stagecraft/framework/routes";

/** People who have signed in. Others are led to the sign-in. */
export const signedIn = guard<{ visitor: string }>("signed-in", { scheme: "session", refusals: [303] });

/** People who have entered the admin key. For others the path does not exist. */
export const operator = guard("operator", { scheme: "session", refusals: [404] });

/** Programs that send the admin key. */
export const adminKey = guard("admin-key", { scheme: "bearer", refusals: [401] });

/** The addresses of `METRICS_ALLOW`. For others the path does not exist. */
export const insider = guard("insider", { refusals: [404] });
