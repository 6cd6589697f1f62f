/**
 * The requests of a server of ours. When an answer is out, Node reads what is left of its request, so that whoever listens hears of the
 * end: for one without a body that is eight callbacks about nothing, a tenth of the price of a small answer. Where nobody listens,
 * and nobody was handed the request who still could, it is over at once.
 *
 * Not for requests of somebody else's server, whose owner holds them as well.
 */
import { IncomingMessage } from "node:http";

/**
 * Node's names for a request that was read to its end; there are no public ones. Since version 24.12 it sets them itself, for all requests
 * without a body, on servers that are told to (`optimizeEmptyRequests`). Where they are missing, the request ends the long way.
 */
interface Inside {
  _dumped: boolean;
  readonly _readableState:
    Record<"ended" | "endEmitted" | "destroyed" | "closed" | "closeEmitted", boolean> | undefined;
}

export class OwnRequest extends IncomingMessage {
  /** To be called when the answer is decided, of a request without a body that was never handed out. */
  endUnheard(): void {
    if (this.listenerCount("end") > 0 || this.listenerCount("close") > 0) return;
    // Node declares only what is public.
    const inside = this as unknown as Inside;
    const { _readableState: state } = inside;
    if (state === undefined) return;
    inside._dumped = true;
    state.ended = true;
    state.endEmitted = true;
    state.destroyed = true;
    state.closed = true;
    state.closeEmitted = true;
  }
}
