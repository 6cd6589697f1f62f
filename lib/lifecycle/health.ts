/**
 * Stage 3: the three health endpoints, answered beside the walk from the application's own state (specification 4.1). It speaks no
 * HTTP library: it gives status, headers and body, and the door writes them.
 *
 * `{prefix}/live` asks whether the process is alive, `{prefix}/ready` whether it should receive traffic, `{prefix}` both.
 *
 * @example
 * const answer = health.answer("GET", "/up/live"); // undefined where the path is none of its three
 */
import type { LifecycleState } from "./state.js";
import type { Readiness, ReadinessReport } from "./readiness.js";

export interface HealthAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for HEAD, whose headers are those of GET. */
  readonly body: string;
}

/** Where the endpoints are unless `.healthPrefix(path)` moves them. */
export const HEALTH_PREFIX = "/up";

const METHOD_NOT_ALLOWED: HealthAnswer = {
  status: 405,
  headers: { Allow: "GET, HEAD", "Cache-Control": "no-store", "Content-Length": "0" },
  body: "",
};

export class Health {
  private readonly paths: readonly string[];
  private readonly live: string;
  private readonly ready: string;

  /** @param prefix as `checkHealthPrefix` lets it pass. */
  constructor(
    private readonly readiness: Readiness,
    private readonly prefix: string = HEALTH_PREFIX,
  ) {
    const paths = Health.pathsBelow(prefix);
    [, this.live, this.ready] = paths;
    this.paths = paths;
  }

  /** The three paths; the router must not have a route on any of them. */
  static pathsBelow(prefix: string): readonly [both: string, live: string, ready: string] {
    return [prefix, `${prefix}/live`, `${prefix}/ready`];
  }

  /** The answer to a path without its query; a promise only where a probe has to be asked. Never rejects. */
  answer(method: string, path: string): HealthAnswer | Promise<HealthAnswer> | undefined {
    // Every request passes here, and this line is all that most of them see.
    if (!path.startsWith(this.prefix) || !this.paths.includes(path)) return undefined;
    if (method === "GET") return this.get(path);
    if (method !== "HEAD") return METHOD_NOT_ALLOWED;
    const answer = this.get(path);
    return answer instanceof Promise ? answer.then(withoutBody) : withoutBody(answer);
  }

  private get(path: string): HealthAnswer | Promise<HealthAnswer> {
    if (path === this.live) return liveAnswer(this.readiness.state);
    const answer = path === this.ready ? readyAnswer : overallAnswer;
    const report = this.readiness.report();
    return report instanceof Promise ? report.then(answer) : answer(report);
  }
}

function liveAnswer(state: LifecycleState): HealthAnswer {
  return json(isLive(state), { state });
}

function readyAnswer(report: ReadinessReport): HealthAnswer {
  return json(report.ready, report);
}

function overallAnswer(report: ReadinessReport): HealthAnswer {
  return json(report.ready, { ...report, live: isLive(report.state) });
}

function isLive(state: LifecycleState): boolean {
  return state !== "stopped";
}

function json(well: boolean, value: object): HealthAnswer {
  const body = JSON.stringify(value);
  const headers = {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "Content-Length": String(Buffer.byteLength(body)),
  };
  return { status: well ? 200 : 503, headers, body };
}

function withoutBody(answer: HealthAnswer): HealthAnswer {
  return { ...answer, body: "" };
}
