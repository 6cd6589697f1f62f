/**
 * A promise that records whether any code waits for it: an application may forget an `await`. Not where the outcome alone matters: a
 * plain promise is cheaper.
 */
export class ObservedPromise<T> extends Promise<T> {
  isAwaited = false;

  /** Handles a rejection that no code waits for, because Node would end the process. */
  handleRejection(): void {
    const { isAwaited } = this;
    this.catch(() => {});
    this.isAwaited = isAwaited;
  }
}

// `await`, `then` and `Promise.race` read the constructor of a promise before they wait for it (ECMA-262, PromiseResolve and
// SpeciesConstructor). The getter returns `Promise` itself, so that `await` makes no second promise.
void Object.defineProperty(ObservedPromise.prototype, "constructor", {
  get(this: ObservedPromise<unknown>) {
    this.isAwaited = true;
    return Promise;
  },
});
