/** The entry point `@stagecraft/framework/openapi`: the OpenAPI document of an application. */
export type { ApiDocsOptions } from "../openapi/api-docs.js";
export { checkOpenApi, type OpenApiCheckOptions } from "../openapi/check-open-api.js";
export type { ApiChange, ChangeKind } from "../openapi/schema-changes.js";
export { createOpenApi, type RouteSource } from "../openapi/open-api.js";
export type { JsonObject, OpenApiDocument, OpenApiInfo, OpenApiOptions, OperationText } from "../openapi/document.js";
