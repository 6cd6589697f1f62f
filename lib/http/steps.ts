/**
 * The steps of the stages after an asynchronous handler, as one list. Each stage waits for its inner run with one call of `then`, and a
 * native promise for each of these calls would cost more than the steps do. The list has one native promise, which starts it. The steps run
 * one after the other in the same microtask, until one of them returns a promise.
 *
 * Only for code that calls `then` once, as stages do: a second call adds a step after the first, and does not branch off. Code of the
 * application gets native promises.
 */
import { isPromise } from "./middleware.js";

type Continuation = ((value: never) => unknown) | null | undefined;

/**
 * Runs `done` or `failed` once `work` has settled, and then the steps that are added with `then`. The last step has to handle an error:
 * the process does not report an unhandled rejection of the list. `lastResortHandler` is that step in an application. @internal
 */
export function after<T>(
  work: Promise<T>,
  done?: (value: T) => unknown,
  failed?: (thrown: unknown) => unknown,
): Promise<void> {
  const steps = new Steps();
  if (done !== undefined || failed !== undefined) steps.add(done, failed);
  steps.waitFor(work);
  // The last step of a stage returns nothing.
  return steps as Promise<unknown> as Promise<void>;
}

class Steps implements Promise<unknown> {
  /** In pairs: the step after a value, and the step after an error. */
  private readonly steps: Continuation[] = [];
  private next = 0;
  private isWaiting = true;
  private hasFailed = false;
  /** The value or the error of the last step. */
  private outcome: unknown = undefined;

  get [Symbol.toStringTag](): string {
    return "Steps";
  }

  add(done: Continuation, failed: Continuation): void {
    this.steps.push(done, failed);
  }

  waitFor(work: Promise<unknown>): void {
    this.isWaiting = true;
    work.then(
      (value) => this.settle(value, false),
      (thrown: unknown) => this.settle(thrown, true),
    );
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it stands for a promise
  then<A = unknown, B = never>(
    done?: ((value: unknown) => A | PromiseLike<A>) | null,
    failed?: ((thrown: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.add(done, failed);
    // `await` calls `then` in a later microtask, when the steps so far may have run.
    if (!this.isWaiting) this.run();
    return this as Promise<unknown> as Promise<A | B>;
  }

  catch<B = never>(failed?: ((thrown: unknown) => B | PromiseLike<B>) | null): Promise<unknown> {
    return this.then(undefined, failed);
  }

  finally(ended?: (() => void) | null): Promise<unknown> {
    return Promise.resolve(this).finally(ended);
  }

  private settle(outcome: unknown, hasFailed: boolean): void {
    this.outcome = outcome;
    this.hasFailed = hasFailed;
    this.isWaiting = false;
    this.run();
  }

  private run(): void {
    const { steps } = this;
    while (this.next < steps.length) {
      const step = steps[this.hasFailed ? this.next + 1 : this.next];
      this.next += 2;
      if (step === undefined || step === null) continue;
      try {
        const result = step(this.outcome as never);
        this.hasFailed = false;
        if (isPromise(result)) return this.waitFor(result);
        this.outcome = result;
      } catch (thrown) {
        this.hasFailed = true;
        this.outcome = thrown;
      }
    }
  }
}
