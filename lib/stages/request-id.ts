/**
 * Stage layer: gives each request an id, and adds it to the response. A valid id of the client is used, otherwise a new one is created. The
 * stage is outside of the access log, because the lines of the log contain the id.
 *
 * It also works as a layer of the application, `builder.layer(new RequestIdLayer())`; then the outer stages do not see the id.
 */
import type { Exchange } from "../http/request/exchange.js";
import type { ResponseHead, HeadCompleter } from "../http/response/response-head.js";
import { StageLayer, type Run } from "../http/middleware.js";
import { REQUEST_ID_HEADER, RequestId } from "../observe/request-id.js";

const completer: HeadCompleter = {
  complete(exchange: Exchange, head: ResponseHead): void {
    const id = RequestId.of(exchange);
    if (id !== undefined) head.set(REQUEST_ID_HEADER, id.value);
  },
};

export class RequestIdLayer extends StageLayer {
  override wrap(inner: Run): Run {
    return (ctx) => {
      RequestId.set(ctx, RequestId.fromRequest(ctx.incoming));
      ctx.completeHeadWith(completer);
      return inner(ctx);
    };
  }
}
