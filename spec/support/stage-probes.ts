/**
 * A probe in each gap between two stages of an application with every stage on. It records the state of the request before the inner
 * stages and the state of the response after them. A gap has the name of the stage outside it.
 */
import type { ApplicationParts } from "../../lib/app/build.js";
import { Application } from "../../lib/app/application.js";
import { ApplicationBuilder } from "../../lib/app/builder.js";
import { Session } from "../../lib/stages/session/session.js";
import { CspNonce } from "../../lib/stages/security-headers/csp-nonce.js";
import type { Context } from "../../lib/http/request/context.js";
import type { KoaMiddleware, Next } from "../../lib/http/middleware.js";
import { HTTP_REQUESTS_TOTAL } from "../../lib/observe/metrics/metrics.js";
import { RequestId } from "../../lib/observe/request-id.js";
import { TraceContext } from "../../lib/observe/trace-context.js";
import { PageContracts } from "../../lib/stages/pages/contract.js";
import { STAGES, type Slot } from "../../lib/pipeline/table.js";
import { testApp, type TestApp } from "../../lib/testing/test-app.js";
import type { AnyRequestOptions } from "../../lib/testing/test-client.js";
import { EveryStage, GreetingModule } from "./every-stage.js";

/** The marks of earlier stages on a request. */
export interface RequestState {
  readonly nonce: boolean;
  readonly requestId: boolean;
  readonly trace: boolean;
  readonly limited: boolean;
  readonly timed: boolean;
  readonly contracts: boolean;
  readonly session: boolean;
}

/** The response in a gap, and its records so far. */
export interface ResponseSnapshot {
  /** `undefined` if an exception passes. */
  readonly status: number | undefined;
  readonly type: unknown;
  readonly encoding: unknown;
  readonly location: unknown;
  readonly countedRequests: number;
  readonly loggedLines: number;
}

export interface ProbedRequest {
  readonly response: Response;
  readonly text: string;
  /** The gaps that the request reached, the outermost first. */
  readonly gapsReached: readonly Slot[];
  readonly requestAt: (gap: Slot) => RequestState;
  readonly responseAt: (gap: Slot) => ResponseSnapshot;
}

/** Inside the router there is no gap but the handler. */
const GAPS = STAGES.filter(({ kind }) => kind !== "router" && kind !== "fallback").map(({ slot }) => slot);

export class StageProbes implements AsyncDisposable {
  private requestStates = new Map<Slot, RequestState>();
  private snapshots = new Map<Slot, ResponseSnapshot>();

  private constructor(
    readonly stages: EveryStage,
    private readonly app: TestApp,
  ) {}

  static async start(): Promise<StageProbes> {
    const stages = new EveryStage();
    let probes: StageProbes | undefined;
    const probe = (gap: Slot) => (ctx: Context, next: Next) => probes?.record(gap, ctx, next) ?? next();
    const builder = new ApplicationBuilder(GreetingModule, (parts) => withProbes(parts, probe));
    probes = new StageProbes(stages, await testApp(stages.applyTo(builder)));
    return probes;
  }

  /** Sends a request and returns the records of its probes. */
  async request(path: string, options?: AnyRequestOptions): Promise<ProbedRequest> {
    const ins = (this.requestStates = new Map());
    const outs = (this.snapshots = new Map());
    const response = await this.app.request(path, options);
    return {
      response,
      text: await response.text(),
      gapsReached: [...ins.keys()],
      requestAt: (gap) => recordAt(ins, gap),
      responseAt: (gap) => recordAt(outs, gap),
    };
  }

  /** The lines of the access log so far. */
  get lines(): readonly string[] {
    return this.app.logs.lines().filter((line) => line.includes('"target":"framework::observe::access_log"'));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.app.stop();
  }

  private async record(gap: Slot, ctx: Context, next: Next): Promise<void> {
    this.requestStates.set(gap, {
      nonce: CspNonce.find(ctx) !== undefined,
      requestId: RequestId.of(ctx) !== undefined,
      trace: TraceContext.of(ctx) !== undefined,
      limited: ctx.bodyLimit !== undefined,
      timed: ctx.activeTimeout !== undefined,
      contracts: PageContracts.find(ctx) !== undefined,
      session: Session.find(ctx) !== undefined,
    });
    try {
      await next();
      this.snapshots.set(gap, this.takeSnapshot(ctx, ctx.status));
    } catch (error) {
      this.snapshots.set(gap, this.takeSnapshot(ctx, undefined));
      throw error;
    }
  }

  private takeSnapshot({ raw, inferredType }: Context, status: number | undefined): ResponseSnapshot {
    return {
      status,
      type: inferredType,
      encoding: raw.getHeader("Content-Encoding"),
      location: raw.getHeader("Location"),
      countedRequests: this.countedRequests,
      loggedLines: this.lines.length,
    };
  }

  private get countedRequests(): number {
    const samples = this.stages.metrics.render().matchAll(new RegExp(`^${HTTP_REQUESTS_TOTAL}\\{.*\\} (\\d+)$`, "gm"));
    return [...samples].reduce((sum, [, value]) => sum + Number(value), 0);
  }
}

/** Puts a probe behind the function of each stage. */
function withProbes({ koa, ...parts }: ApplicationParts, probe: (gap: Slot) => KoaMiddleware): Application {
  koa.middleware = koa.middleware.flatMap((stage): KoaMiddleware[] => {
    const gap = GAPS.find((slot) => slot === stage.name);
    return gap === undefined ? [stage] : [stage, probe(gap)];
  });
  // The constructor is internal. It only keeps the parts.
  return Reflect.construct(Application, [{ koa, ...parts }]) as Application;
}

function recordAt<T>(records: ReadonlyMap<Slot, T>, gap: Slot): T {
  const record = records.get(gap);
  if (record === undefined)
    throw new Error(`no record of ${gap}; there are records of ${[...records.keys()].join(", ")}`);
  return record;
}
