/** A table whose module `loaded-twice.spec.ts` loads by two specifiers, as a bundler or a query does. */
import { Get, routes } from "@stagecraft/framework";

export const doubled = routes("doubled", "/doubled", { index: Get("/"), show: Get("/{id}") });
