/**
 * Somebody in each gap between two stages of a whole application, who writes down how a request looks on its way in and its answer on
 * the way out. A gap is called after the stage outside it.
 */
import type { ApplicationParts } from "../../lib/app/build.js";
import { Application } from "../../lib/app/application.js";
import { ApplicationBuilder } from "../../lib/app/builder.js";
import { CspNonce } from "../../lib/stages/security-headers/csp-nonce.js";
import type { Context } from "../../lib/http/context.js";
import type { Next } from "../../lib/http/middleware.js";
import { HTTP_REQUESTS_TOTAL } from "../../lib/observe/metrics/metrics.js";
import { RequestId } from "../../lib/observe/request-id.js";
import { TraceContext } from "../../lib/observe/trace-context.js";
import { STAGES, type Slot } from "../../lib/pipeline/table.js";
import { testApp, type TestApp } from "../../lib/testing/test-app.js";
import type { AnyRequestOptions } from "../../lib/testing/test-client.js";
import { EveryStage, GreetingModule } from "./every-stage.js";

/** What stages have left on a request so far. */
export interface RequestState {
  readonly nonce: boolean;
  readonly requestId: boolean;
  readonly trace: boolean;
  readonly limited: boolean;
  readonly timed: boolean;
}

/** What has become of the answer so far, and what was told of it. */
export interface AnswerState {
  /** `undefined` where an exception comes by. */
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
  /** The gaps that the request came to, outermost first. */
  readonly gapsReached: readonly Slot[];
  readonly requestAt: (gap: Slot) => RequestState;
  readonly answerAt: (gap: Slot) => AnswerState;
}

/** The router's own gap is the handler. */
const GAPS = STAGES.filter(({ kind }) => kind !== "router" && kind !== "fallback").map(({ slot }) => slot);

export class StageProbes implements AsyncDisposable {
  private ins = new Map<Slot, RequestState>();
  private outs = new Map<Slot, AnswerState>();

  private constructor(
    readonly stages: EveryStage,
    private readonly app: TestApp,
  ) {}

  static async start(): Promise<StageProbes> {
    const stages = new EveryStage();
    let lookouts: StageProbes | undefined;
    const look = (gap: Slot) => (ctx: Context, next: Next) => lookouts?.watch(gap, ctx, next) ?? next();
    const builder = new ApplicationBuilder(GreetingModule, (assembly) => watched(assembly, look));
    lookouts = new StageProbes(stages, await testApp(stages.applyTo(builder)));
    return lookouts;
  }

  /** Sends a request and tells what was seen of it. */
  async request(path: string, options?: AnyRequestOptions): Promise<ProbedRequest> {
    const ins = (this.ins = new Map());
    const outs = (this.outs = new Map());
    const response = await this.app.request(path, options);
    return {
      response,
      text: await response.text(),
      gapsReached: [...ins.keys()],
      requestAt: (gap) => of(ins, gap),
      answerAt: (gap) => of(outs, gap),
    };
  }

  /** The lines of the access log so far. */
  get lines(): readonly string[] {
    return this.app.logs.lines().filter((line) => line.includes('"target":"framework::observe::access_log"'));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.app.stop();
  }

  private async watch(gap: Slot, ctx: Context, next: Next): Promise<void> {
    this.ins.set(gap, {
      nonce: CspNonce.find(ctx) !== undefined,
      requestId: RequestId.of(ctx) !== undefined,
      trace: TraceContext.of(ctx) !== undefined,
      limited: ctx.bodyLimit !== undefined,
      timed: ctx.timeKeeper !== undefined,
    });
    try {
      await next();
      this.outs.set(gap, this.wayOut(ctx, ctx.status));
    } catch (error) {
      this.outs.set(gap, this.wayOut(ctx, undefined));
      throw error;
    }
  }

  private wayOut({ raw, naturalType }: Context, status: number | undefined): AnswerState {
    return {
      status,
      type: naturalType,
      encoding: raw.getHeader("Content-Encoding"),
      location: raw.getHeader("Location"),
      countedRequests: this.counted,
      loggedLines: this.lines.length,
    };
  }

  private get counted(): number {
    const samples = this.stages.metrics.render().matchAll(new RegExp(`^${HTTP_REQUESTS_TOTAL}\\{.*\\} (\\d+)$`, "gm"));
    return [...samples].reduce((sum, [, value]) => sum + Number(value), 0);
  }
}

/** The chain is composed when serving begins: what is put into the slots until then is part of it. */
function watched(assembly: ApplicationParts, look: (gap: Slot) => (ctx: Context, next: Next) => unknown): Application {
  for (const gap of GAPS) if (assembly.pipeline.isOn(gap)) assembly.pipeline.put(gap, look(gap));
  // The constructor is private to `Application.create`, and does nothing but keep the parts.
  return Reflect.construct(Application, [assembly]) as Application;
}

function of<T>(sights: ReadonlyMap<Slot, T>, gap: Slot): T {
  const sight = sights.get(gap);
  if (sight === undefined) throw new Error(`nobody came past ${gap}; seen at ${[...sights.keys()].join(", ")}`);
  return sight;
}
