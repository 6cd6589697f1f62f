/**
 * The program of a render thread: loads the bundle and calls its render function for one page after the other. Only
 * `WorkerPageRenderer` starts it. A failure of the bundle ends the thread or one render, never the process.
 */
import { parentPort, workerData, type MessagePort } from "node:worker_threads";

/** A page for the thread: JSON text, and a number that the result repeats. */
export interface RenderOrder {
  readonly number: number;
  readonly page: string;
}

/** The result, or the text of the error. Number 0 is the bundle: it is loaded, or could not be. */
export interface RenderOutcome {
  readonly number: number;
  readonly result?: unknown;
  readonly error?: string;
}

type RenderFunction = (page: unknown) => unknown;

async function load(url: string): Promise<RenderFunction> {
  const bundle = (await import(url)) as { readonly render?: unknown; readonly default?: unknown };
  const render = bundle.render ?? bundle.default;
  if (typeof render !== "function")
    throw new TypeError("the bundle exports no function `render`: export function render(page)");
  return render as RenderFunction;
}

async function renderWith(render: RenderFunction, page: string): Promise<unknown> {
  // Bundles may return more than can be sent to another thread.
  const { head, body } = (await render(JSON.parse(page))) as { readonly head: unknown; readonly body: unknown };
  return { head, body };
}

/** Sends the result of `work`, or its error as text: an error and a result may hold values that cannot be sent to another thread. */
async function report(port: MessagePort, number: number, work: Promise<unknown>): Promise<void> {
  try {
    send(port, { number, result: await work });
  } catch (error) {
    send(port, { number, error: toErrorText(error) });
  }
}

/** The bundle may throw any value, also one without a text, and an error whose stack is not text. */
function toErrorText(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return String(thrown);
    const { message, stack = message }: { readonly message: unknown; readonly stack?: unknown } = thrown;
    return String(stack);
  } catch {
    return "the bundle threw a value that has no text";
  }
}

function send(port: MessagePort, outcome: RenderOutcome): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  port.postMessage(outcome);
}

if (parentPort !== null) {
  const port = parentPort;
  const loading = load(String(workerData));
  void report(
    port,
    0,
    loading.then(() => undefined),
  );
  port.on("message", ({ number, page }: RenderOrder) => {
    void report(
      port,
      number,
      loading.then((render) => renderWith(render, page)),
    );
  });
}
