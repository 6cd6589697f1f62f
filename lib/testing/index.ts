/** What tests of an application use; the entry point `…/testing`. Knows no test runner: assertions throw Node's `AssertionError`. */
export { CaptureSink } from "../observe/capture-sink.js";
export { context, type ContextOptions } from "./context.js";
export { expectExposition } from "./expect-exposition.js";
export { expectLogLine, type LogLine } from "./expect-log-line.js";
export { expectNoLeak } from "./expect-no-leak.js";
export { expectProblem, type ExpectedProblem, type ProblemDocument } from "./expect-problem.js";
export { FakeClock } from "./fake-clock.js";
export { obeysLayerContract, type LayerContractOptions } from "./obeys-layer-contract.js";
export { testApp, type TestApp } from "./test-app.js";
export type { AnyRequestOptions, TestClient } from "./test-client.js";
export type { RequestOptions } from "./transport.js";
export type { RawOptions } from "./raw-exchange.js";
