/**
 * Node's response after a stage has responded in the handler's place. The handler may still have the response, and so may work that it
 * started. From then on the response ignores their writes and appears closed to them, so that a stream that is piped into it stops. The
 * framework writes through a separate proxy.
 */
import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";

const WRITES = [
  "addTrailers",
  "appendHeader",
  "cork",
  "destroy",
  "end",
  "flushHeaders",
  "removeHeader",
  "setHeader",
  "setHeaders",
  "uncork",
  "write",
  "writeContinue",
  "writeEarlyHints",
  "writeHead",
  "writeProcessing",
] as const;

/** Makes `raw` ignore all writes except those through the returned proxy. Callbacks of ignored writes get `reason`. */
export function detachResponse(raw: ServerResponse, reason: Error): ServerResponse {
  const writer = new DetachedWriter(reason);
  for (const name of WRITES) ignoreMethod(raw, name, writer);
  for (const name of ["statusCode", "statusMessage"]) ignoreProperty(raw, name, writer);
  raw.on("pipe", (source: Readable) => void (writer.isWriting || source.destroy()));
  // A listener may throw, so the event is emitted in a later microtask.
  if (!raw.headersSent) queueMicrotask(() => raw.emit("close"));
  return new Proxy(raw, writer);
}

/** Passes writes on to the response. The writes that methods of Node, original or patched, make during a call are passed on too. */
class DetachedWriter implements ProxyHandler<ServerResponse> {
  isWriting = false;

  constructor(readonly reason: Error) {}

  get(raw: ServerResponse, name: string | symbol): unknown {
    const value: unknown = Reflect.get(raw, name);
    if (typeof value !== "function") return value;
    return (...args: unknown[]): unknown => this.runWrite(() => Reflect.apply(value, raw, args) as unknown);
  }

  set(raw: ServerResponse, name: string | symbol, value: unknown): boolean {
    return this.runWrite(() => Reflect.set(raw, name, value));
  }

  private runWrite<T>(action: () => T): T {
    const wasWriting = this.isWriting;
    this.isWriting = true;
    try {
      return action();
    } finally {
      this.isWriting = wasWriting;
    }
  }
}

function ignoreMethod(raw: ServerResponse, name: string, writer: DetachedWriter): void {
  const method: unknown = Reflect.get(raw, name);
  if (typeof method !== "function") return;
  const ignoring = (...args: unknown[]): unknown => {
    if (writer.isWriting) return Reflect.apply(method, raw, args) as unknown;
    const done = args.at(-1);
    if (typeof done === "function") process.nextTick(done, writer.reason);
    return name === "write" ? false : raw;
  };
  Object.defineProperty(raw, name, { value: ignoring, configurable: true, writable: true });
}

function ignoreProperty(raw: ServerResponse, name: string, writer: DetachedWriter): void {
  let value: unknown = Reflect.get(raw, name);
  Object.defineProperty(raw, name, {
    configurable: true,
    get: () => value,
    set: (other: unknown) => {
      if (writer.isWriting) value = other;
    },
  });
}
