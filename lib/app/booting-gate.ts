/**
 * While the application starts, the listener answers already, and everything but health is refused where maintenance would stand.
 * Only `run()` has it; it leaves the chain with the first request after the start.
 */
import { answerProblem } from "../http/returned-value.js";
import { Layer, type Run } from "../http/middleware.js";
import { Problem } from "../errors/problem.js";

export class BootingGate extends Layer {
  override wrap(_inner: Run): Run {
    return (ctx) => {
      answerProblem(ctx, new Problem(503, { detail: "The application is starting. Please try again shortly." }));
      ctx.raw.setHeader("Retry-After", "1");
    };
  }
}
