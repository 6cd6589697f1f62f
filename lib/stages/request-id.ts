/**
 * Stage layer: every request has an id, the client's where it is valid, else a fresh one; every answer from here inwards carries it.
 * Must stand outside the access log, whose lines are otherwise without it.
 *
 * Usable alone: `builder.layer(new RequestIdLayer())` covers what user layers cover.
 */
import type { Exchange } from "../http/exchange.js";
import type { ResponseHead, HeadCompleter } from "../http/head.js";
import { Layer, type Run } from "../http/middleware.js";
import { REQUEST_ID_HEADER, RequestId } from "../observe/request-id.js";

const completer: HeadCompleter = {
  complete(exchange: Exchange, head: ResponseHead): void {
    const id = RequestId.of(exchange);
    if (id !== undefined) head.set(REQUEST_ID_HEADER, id.value);
  },
};

export class RequestIdLayer extends Layer {
  override wrap(inner: Run): Run {
    return (ctx) => {
      RequestId.set(ctx, RequestId.fromRequest(ctx.incoming));
      ctx.completeHeadWith(completer);
      return inner(ctx);
    };
  }
}
