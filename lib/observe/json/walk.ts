/**
 * The way from a field down to the object that is being written: keeps cycles, depth and sheer number in bounds.
 */
const MAX_DEPTH = 64;
/** Objects in one field. Shared references can unfold to more than any memory has. */
const MAX_OBJECTS = 1 << 20;

export const UNREADABLE = '"[unreadable]"';
const CIRCULAR = '"[circular]"';
const TOO_DEEP = '"[too deep]"';

export class Walk {
  readonly #path: object[] = [];
  #depth = 0;
  #objects = 0;

  /** Goes one level down; or stays, and answers the mark for what cannot be entered. Every `enter` has its `leave`. */
  enter(value: object): string | undefined {
    const mark = this.#depth >= MAX_DEPTH && !this.#path.includes(value) ? TOO_DEEP : this.enterBeside(value);
    if (mark === undefined) this.#depth++;
    return mark;
  }

  leave(): void {
    this.#depth--;
    this.leaveBeside();
  }

  /** The same on the level where the walk is: for what an object gave in its own place. */
  enterBeside(value: object): string | undefined {
    if (this.#path.length > 0 && this.#path.includes(value)) return CIRCULAR;
    if (++this.#objects > MAX_OBJECTS) return UNREADABLE;
    this.#path.push(value);
    return undefined;
  }

  leaveBeside(): void {
    this.#path.pop();
  }
}
