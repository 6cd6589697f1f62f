/**
 * The health endpoints as a stage: beside the walk, so that nothing further in can refuse, count or decorate them.
 */
import type { Context } from "../http/context.js";
import { isPromise, Layer, type Run } from "../http/middleware.js";
import type { Health, HealthAnswer } from "./health.js";

export class HealthLayer extends Layer {
  constructor(private readonly health: Health) {
    super();
  }

  override wrap(inner: Run): Run {
    const { health } = this;
    return (ctx) => {
      const answer = health.answer(ctx.method, ctx.path);
      if (answer === undefined) return inner(ctx);
      return isPromise(answer) ? answer.then((ready) => write(ctx, ready)) : write(ctx, answer);
    };
  }
}

function write(ctx: Context, { status, headers, body }: HealthAnswer): void {
  ctx.answerStatus(status);
  for (const name in headers) ctx.raw.setHeader(name, headers[name] ?? "");
  if (body !== "") ctx.payload = body;
}
