/**
 * The entry point `@stagecraft/framework`, in the order of the folders of the library. Observability, the test kit and the drivers have
 * separate entry points.
 */
export { Clock, SystemClock, type Timer, type TimerOptions } from "../runtime/clock.js";
export { profile, type Profile } from "../runtime/profile.js";

export type { TracingLayer } from "../tracing/registry.js";
export type { RemoteParent } from "../tracing/subscriber.js";

export { StartupError, type Diagnostic } from "../errors/diagnostic.js";
export {
  BadRequestError,
  ConflictError,
  ForbiddenError,
  FrameworkError,
  MalformedJsonError,
  MethodNotAllowedError,
  NotFoundError,
  PayloadTooLargeError,
  RequestTimeoutError,
  TooManyRequestsError,
  UnauthorizedError,
  UnavailableError,
  UnsupportedMediaTypeError,
  ValidationError,
  type FieldError,
  type FrameworkErrorOptions,
  type HttpErrorOptions,
} from "../errors/framework-error.js";
export { Problem, PROBLEM_CONTENT_TYPE } from "../errors/problem.js";

export { AddressBlocks } from "../http/request/address-blocks.js";
export { Context } from "../http/request/context.js";
export type { FormFields, NestedFields, NestedValue } from "../http/body/form-fields.js";
export type { EventBody, EventIterable, EventSource, ServerSentEvent } from "../http/response/event-stream.js";
export type { UploadedFile, UploadLimits } from "../http/body/uploads.js";
export { Extension, type Extensible } from "../http/request/extension.js";
export {
  Layer,
  type KoaMiddleware,
  type Middleware as MiddlewareContract,
  type Next,
  type Run,
} from "../http/middleware.js";
export type { KoaApp, KoaCookies, KoaRequest, KoaResponse } from "../http/koa/koa-types.js";
export { Reply, type Payload as ReplyPayload } from "../http/response/reply.js";
export { withJsonSchema, type InferInput, type InferOutput, type Schema } from "../runtime/standard-schema.js";
export type { Json } from "../runtime/json-value.js";

export type { Injection as GraphInjection } from "../di/container.js";
export { inject } from "../di/construction/inject.js";
export { Inject, Injectable } from "../di/injectable.js";
export { Module, type ModuleEvent, type ModuleOptions } from "../di/module.js";
export { provide, type Binding, type Provision, type Resolve, type Source as BindingSource } from "../di/provide.js";
export { token, type InjectionToken, type Token } from "../di/token.js";
export type { AbstractClass, Class } from "../runtime/class.js";

export { Cache, CacheUnavailableError, type CacheScript } from "../cache/cache.js";
export type { LifecycleOptions } from "../lifecycle/lifecycle-options.js";
export {
  Operations,
  SUBSYSTEM_OPERATION_DURATION,
  type OperationNames,
  type SubsystemHost,
  type SubsystemMetrics,
} from "../lifecycle/operations.js";
export {
  Readiness,
  type Check as ReadinessCheck,
  type ReadinessReport,
  type WorkerCounts,
} from "../lifecycle/readiness.js";
export type { PerProcess, ProcessState } from "../lifecycle/process-state.js";
export type { LifecycleState } from "../lifecycle/state.js";
export {
  ShutdownLast,
  Subsystem,
  SUBSYSTEM_KINDS,
  type SubsystemKind,
  type WorkingProcess,
} from "../lifecycle/subsystem.js";
export { currentWorkScope, type ScopeRequest, type WorkScope } from "../lifecycle/work-scope.js";

export { event, type EventType, type PayloadOf } from "../events/event.js";
export { Events } from "../events/events.js";
export { On, type ListenerDecorator, type ListenerOptions } from "../events/on.js";

export {
  Command,
  type CommandDecorator,
  type CommandMethodContext as CommandContext,
  type FitsCommand,
  type NoValues as NoCommandValues,
} from "../commands/command.js";

export { Controller } from "../routing/controller.js";
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
export {
  content,
  type Bytes,
  type Content,
  type ContentKind,
  type EventOf,
  type FileRule,
  type FileRules,
  type FilesOf,
  type PageValue,
  type ReceivedEvent,
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
export type {
  CallResponse,
  ProblemBody,
  ProblemStatus,
  ResultOf,
  SuccessOf,
  UndeclaredResponse,
  UnexpectedResponse,
} from "../endpoints/received.js";
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
export { createManifest } from "../client/create-manifest.js";
export type { RoutesManifest, ManifestEntry, ManifestKind } from "../client/manifest.js";
export { Guards, type GuardDecorator } from "../contracts/guards.js";
export { Policy, type Abilities, type Ability } from "../contracts/policy.js";
export type {
  AnyClass,
  AnyHandler,
  EndpointHandler,
  FitsContext,
  FitsResult,
  HandledTypes,
  HandlerOf,
} from "../endpoints/handler.js";
export {
  Middleware,
  middleware,
  type MiddlewareClass,
  type MiddlewareDecorator,
  type MiddlewareInput,
  type PlainMiddlewareClass,
} from "../routing/middleware.js";
export type { Names as PathNames, PathParameter, UrlArguments } from "../endpoints/path.js";
export { prefix, type PrefixedTable, type PrefixOptions } from "../endpoints/prefix.js";
export { resource, type Resource, type ResourceAction, type ResourceOptions } from "../endpoints/resource.js";
export { Route, type RouteDescriptor } from "../routing/route.js";
export { RouteGroup, type HandlersOf } from "../routing/route-group.js";
export { Routes, type RoutesRouter } from "../routing/routes.js";

export { BodyLimitLayer, type BodyLimitOptions } from "../stages/body-limit.js";
export { CatchPanicLayer } from "../stages/catch-panic.js";
export { CompressionLayer, type CompressionOptions } from "../stages/compression.js";
export { CorsLayer } from "../stages/cors/cors.js";
export type { CorsOptions, OriginPredicate } from "../stages/cors/cors-options.js";
export type { DevProxyOptions } from "../stages/dev-proxy/dev-proxy.js";
export { ErrorMapping, type ErrorMapper } from "../stages/error-mapping.js";
export { Maintenance, MaintenanceLayer } from "../stages/maintenance/maintenance.js";
export type { MaintenanceState, MaintenanceStore } from "../stages/maintenance/maintenance-store.js";
export { ProxyAction, ProxyLayer, type ProxyFunction, type ProxyRequest } from "../stages/proxy.js";
export type { RateLimitKey } from "../stages/rate-limit/client-key.js";
export { RateLimit, type OnBackendError } from "../stages/rate-limit/rate-limit.js";
export { redirect, type Left as LeftData, type Redirect } from "../stages/redirects/redirect.js";
export { CspNonce } from "../stages/security-headers/csp-nonce.js";
export { SecurityHeaders } from "../stages/security-headers/security-headers.js";
export type { StaticFilesOptions } from "../stages/static-files/options.js";
export { StaticFiles } from "../stages/static-files/static-files.js";
export { TimeoutLayer, type TimeoutOptions } from "../stages/timeout.js";
export { UagEndpointLayer } from "../stages/uag-endpoint.js";

export type { ApiDocsOptions } from "../openapi/api-docs.js";
export type { JsonObject, OpenApiInfo, OpenApiOptions, OperationText } from "../openapi/document.js";

export type { StageRow } from "../pipeline/pipeline.js";
export { STAGES, type Slot, type Stage, type StageKind } from "../pipeline/table.js";

export type { ServerAttachment } from "../server/listener.js";

export { Application, type RunningApplication } from "../app/application.js";
export type { WorkersOptions } from "../app/workers/workers-options.js";
export { ApplicationBuilder } from "../app/builder.js";
export { AppConfig, type AppConfigValues } from "../app/config.js";
export { environment, type EnvironmentValues } from "../app/environment.js";
export type { ApplicationGraph, GraphEvent, GraphRoute } from "../app/graph/graph.js";
export type { GraphModule } from "../app/graph/graph-modules.js";
export type { GraphPage } from "../app/graph/graph-pages.js";
export type { GraphContent, GraphSchema, GraphShapes } from "../app/graph/graph-shapes.js";
export { variable, type Variable } from "../app/variable.js";
