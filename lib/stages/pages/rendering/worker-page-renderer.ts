/**
 * Renders pages in a separate thread, from a bundle of Vite that exports a function `render(page)` and starts nothing (`vite build --ssr`).
 * The code of pages cannot stop the process there: an endless loop, an unhandled rejection and growing memory end the thread, and the next
 * page gets a new one.
 *
 * The thread renders one page at a time, because renders share the variables of their modules: two renders at once could show one visitor
 * the page of another visitor. The thread has none of the process's environment but `NODE_ENV`.
 *
 * @example
 * new Pages({ entry: "pages/main.tsx", renderer: new WorkerPageRenderer({ bundle: "dist/pages/server.js" }) });
 */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type { FrameworkError } from "../../../errors/framework-error.js";
import { createSetupError } from "../../../errors/setup-error.js";
import { SystemClock, type Clock, type Timer } from "../../../runtime/clock.js";
import { PageRenderer, parseRenderedPage, type RenderedPage } from "./page-renderer.js";
import type { RenderOrder, RenderOutcome } from "./render-thread.js";

export interface WorkerPageRendererOptions {
  /** The module that exports `render`. A relative path starts at the working directory. */
  readonly bundle: string;
  /** How long a render may take, and how long a page may wait for the thread, in milliseconds; 1000 unless set. */
  readonly timeoutMs?: number;
  /** The memory of the thread, in MiB; 256 unless set. */
  readonly memoryMib?: number;
  /** How many pages may wait for the thread; 32 unless set. The browser renders those beyond it. */
  readonly maxWaiting?: number;
}

/** How long a bundle may take to load, in milliseconds. The first pages wait for it. */
const LOAD_MS = 5000;
/** How long no new thread is started after the bundle could not be loaded, in milliseconds. */
const PAUSE_MS = 1000;

/** One page that is rendered, or waits for that. */
interface RenderJob {
  readonly page: string;
  readonly done: (rendered: RenderedPage) => void;
  readonly failed: (error: Error) => void;
  timer: Timer | undefined;
}

export class WorkerPageRenderer extends PageRenderer {
  private readonly options: Required<WorkerPageRendererOptions>;
  private readonly waiting: RenderJob[] = [];
  private thread: Worker | undefined;
  private isLoaded = false;
  private loadTimer: Timer | undefined;
  private current: RenderJob | undefined;
  private number = 0;
  /** By the monotonic clock; until then no thread is started. */
  private pausedUntil = 0;
  private isShutDown = false;
  private ending: Promise<unknown> | undefined;

  /** @throws FrameworkError `E_RENDERER` for an option that is not a whole number above 0, and for a bundle that is not a path */
  constructor(
    options: WorkerPageRendererOptions,
    private readonly clock: Clock = new SystemClock(),
  ) {
    super();
    const { bundle, timeoutMs = 1000, memoryMib = 256, maxWaiting = 32 } = options;
    if (typeof bundle !== "string" || bundle === "") throw wrong("bundle is the path of a module");
    for (const [name, value] of Object.entries({ timeoutMs, memoryMib, maxWaiting }))
      if (!Number.isInteger(value) || value < 1) throw wrong(`${name} is a whole number above 0`);
    this.options = { bundle: resolve(bundle), timeoutMs, memoryMib, maxWaiting };
  }

  override render(page: string): Promise<RenderedPage> {
    const { maxWaiting, timeoutMs } = this.options;
    if (this.isShutDown) return Promise.reject(new Error("the renderer is shut down"));
    if (this.clock.monotonic() < this.pausedUntil) return Promise.reject(new Error("the bundle could not be loaded"));
    if (this.waiting.length >= maxWaiting) return Promise.reject(new Error(`${maxWaiting} pages wait already`));
    return new Promise((done, failed) => {
      const job: RenderJob = { page, done, failed, timer: undefined };
      job.timer = this.startTimer(() => this.leaveQueue(job), this.isLoaded ? timeoutMs : LOAD_MS);
      this.waiting.push(job);
      this.next();
    });
  }

  /** Ends the thread. Pages that wait are rendered by the browser. */
  override async shutdown(): Promise<void> {
    this.isShutDown = true;
    for (const job of this.waiting.splice(0)) this.fail(job, "the renderer is shut down");
    this.endThread("the renderer is shut down");
    await this.ending;
  }

  private leaveQueue(job: RenderJob): void {
    const at = this.waiting.indexOf(job);
    if (at >= 0) this.waiting.splice(at, 1);
    this.fail(job, "the page waited too long for the thread");
  }

  private next(): void {
    if (this.current !== undefined || this.waiting.length === 0) return;
    this.thread ??= this.startThread();
    if (!this.isLoaded) return;
    const job = this.waiting.shift();
    if (job === undefined) return;
    this.current = job;
    job.timer?.cancel();
    const { timeoutMs } = this.options;
    job.timer = this.startTimer(() => this.endThread(`the render took more than ${timeoutMs} ms`), timeoutMs);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.thread.postMessage({ number: ++this.number, page: job.page } satisfies RenderOrder);
  }

  private startThread(): Worker {
    const { NODE_ENV } = process.env;
    const thread = new Worker(new URL("./render-thread.js", import.meta.url), {
      workerData: pathToFileURL(this.options.bundle).href,
      env: NODE_ENV === undefined ? {} : { NODE_ENV },
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.options.memoryMib },
    });
    this.isLoaded = false;
    this.loadTimer = this.startTimer(() => this.loadFailed(`it took more than ${LOAD_MS} ms`), LOAD_MS);
    // An idle thread does not keep the process alive.
    thread.unref();
    thread.on("message", (message: unknown) => this.received(thread, message));
    thread.on("error", (error: unknown) => this.threadFailed(thread, error));
    thread.on("exit", () => this.threadFailed(thread, new Error("the thread ended")));
    return thread;
  }

  private received(thread: Worker, message: unknown): void {
    if (thread !== this.thread || !isOutcome(message)) return;
    const { number, result, error } = message;
    if (number === 0) this.loaded(error);
    else if (number === this.number) this.rendered(result, error);
  }

  private loaded(error: string | undefined): void {
    this.loadTimer?.cancel();
    this.isLoaded = error === undefined;
    if (error === undefined) this.next();
    else this.loadFailed(error);
  }

  /** Every page would fail now. The next thread loads the bundle again, a little later. */
  private loadFailed(why: string): void {
    this.pausedUntil = this.clock.monotonic() + PAUSE_MS;
    for (const job of this.waiting.splice(0)) this.fail(job, `the bundle could not be loaded: ${why}`);
    this.endThread(why);
  }

  private rendered(result: unknown, error: string | undefined): void {
    const { current: job } = this;
    this.current = undefined;
    job?.timer?.cancel();
    try {
      if (error !== undefined) throw new Error(error);
      job?.done(parseRenderedPage(result));
    } catch (thrown) {
      job?.failed(thrown as Error);
    }
    this.next();
  }

  private threadFailed(thread: Worker, error: unknown): void {
    if (thread !== this.thread) return;
    const why = error instanceof Error ? error.message : String(error);
    if (this.isLoaded) this.endThread(why);
    else this.loadFailed(why);
  }

  /** A thread in a loop ends too: the engine stops it. The next page gets a new one. */
  private endThread(why: string): void {
    const { thread, current: job } = this;
    this.thread = undefined;
    this.current = undefined;
    this.loadTimer?.cancel();
    this.ending = thread?.terminate();
    if (job !== undefined) this.fail(job, why);
    this.next();
  }

  private fail(job: RenderJob, why: string): void {
    job.timer?.cancel();
    job.failed(new Error(why));
  }

  private startTimer(callback: () => void, delayMs: number): Timer {
    return this.clock.setTimeout(callback, delayMs, { background: true });
  }
}

/** The bundle, or a package in it, may send other messages. */
function isOutcome(message: unknown): message is RenderOutcome {
  if (typeof message !== "object" || message === null) return false;
  const { number, error } = message as { readonly number?: unknown; readonly error?: unknown };
  // An error that is not text could throw when it is converted to text.
  return typeof number === "number" && (error === undefined || typeof error === "string");
}

function wrong(what: string): FrameworkError {
  return createSetupError("E_RENDERER", `new WorkerPageRenderer({ … }): ${what}`);
}
