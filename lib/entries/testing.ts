/**
 * The entry point `@stagecraft/framework/testing`: the tools for tests of an application. They work with every test runner, because
 * their assertions throw Node's `AssertionError`.
 */
export type { Issuer } from "../auth/jwt/bearer.js";
export { CaptureSink } from "../observe/logging/sink.js";
export { construct } from "../testing/construct.js";
export { context, type ContextOptions, type EndpointContextOptions } from "../testing/context.js";
export { double, type Double } from "../testing/double.js";
export { expectExposition } from "../testing/expect-exposition.js";
export { expectLogLine, type LogLine } from "../testing/expect-log-line.js";
export { expectNoLeak } from "../testing/expect-no-leak.js";
export { expectProblem, type ExpectedProblem, type ProblemDocument } from "../testing/expect-problem.js";
export { FakeClock } from "../testing/fake-clock.js";
export { ProviderDouble, type ProviderPerson, type ProviderRefusal } from "../testing/provider-double.js";
export { testApp, type TestApp } from "../testing/test-app.js";
export type { ActingOptions, ActingUser } from "../testing/test-session.js";
export type { CallArguments, CallOptions, Client, EndpointCall } from "../client/client.js";
export type { AnyRequestOptions, TestClient, TestResponse } from "../testing/test-client.js";
export type { RequestOptions } from "../testing/transport.js";
export type { RawOptions } from "../testing/raw-exchange.js";
