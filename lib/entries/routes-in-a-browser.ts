/**
 * The entry point `@stagecraft/framework/routes` under the condition `browser`: the values of routes.ts, without the checks of the server.
 * The types are those of routes.ts.
 */
export {
  Any,
  Delete,
  Get,
  guard,
  Head,
  Options,
  Patch,
  Post,
  prefix,
  Put,
  Query,
  resource,
  routes,
  withJsonSchema,
} from "../endpoints/tables-in-a-browser.js";
export { content } from "../endpoints/content.js";
export { client } from "../client/client.js";
export { ClientProblem } from "../client/client-problem.js";
