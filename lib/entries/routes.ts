/**
 * The entry point `@stagecraft/framework/routes`: tables of endpoints, guards as values and the typed client. A front end may import it:
 * it loads nothing of Node.
 */
export {
  Any,
  Delete,
  Get,
  Head,
  Options,
  Patch,
  Post,
  Put,
  Query,
  type AnyEndpoint,
  type Endpoint,
  type EndpointOptions,
  type QueryEndpoint,
} from "../endpoints/endpoint.js";
export type { Method as HttpMethod } from "../endpoints/method.js";
export type { RouteDate, RouteOptions } from "../endpoints/route-options.js";
export { routes, type EndpointTable, type TableEntry, type TableOptions } from "../endpoints/endpoint-table.js";
export { prefix, type PrefixedTable, type PrefixOptions } from "../endpoints/prefix.js";
export { resource, type Resource, type ResourceAction, type ResourceOptions } from "../endpoints/resource.js";
export {
  content,
  type Bytes,
  type Content,
  type ContentKind,
  type EventOf,
  type FileRule,
  type FileRules,
  type FilesOf,
  type ReceivedEvent,
  type PageValue,
  type RedirectValue,
} from "../endpoints/content.js";
export type {
  AddsOf,
  ContentDeclaration,
  ContextOf,
  ReturnOf,
  Contract,
  ContractOptions,
  InputOf,
  OutputOf,
  ParamsOf,
  RecordOf,
  RequestOf,
  ReturnsOf,
} from "../endpoints/contract.js";
export {
  guard,
  type AnyGuard,
  type EarlierGuard,
  type Guard,
  type GuardDefinition,
  type GuardList,
  type GuardOptions,
  type GuardUse,
  type UncalledGuard,
  type UsedGuard,
} from "../endpoints/guard.js";
export type { Idempotent, IdempotentOptions } from "../endpoints/idempotent.js";
export type { Names as PathNames, PathParameter, UrlArguments } from "../endpoints/path.js";
export type {
  CallResponse,
  ProblemBody,
  ProblemStatus,
  ResultOf,
  SuccessOf,
  UndeclaredResponse,
  UnexpectedResponse,
} from "../endpoints/received.js";
export { withJsonSchema, type InferInput, type InferOutput, type Schema } from "../runtime/standard-schema.js";
export type { Json } from "../runtime/json-value.js";
export {
  client,
  type EndpointCall,
  type CallArguments,
  type CallOptions,
  type Client,
  type RouteClientOptions,
} from "../client/client.js";
export type { CallInit } from "../client/call-request.js";
export { ClientProblem } from "../client/client-problem.js";
export type { RoutesManifest, ManifestEntry, ManifestKind } from "../client/manifest.js";
