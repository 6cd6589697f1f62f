/**
 * The methods a route can answer. `ANY` stands for every method that has no route of its own at the same template; methods without a
 * constructor (TRACE, PURGE, …) are reached through it only.
 */

/** In the order in which the constructors are listed: `get post put patch delete head options any`. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS" | "ANY";
