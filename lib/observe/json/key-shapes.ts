/**
 * Remembers the lists of keys that fields come with: their sorted order, their escaped form and whether each is withheld.
 * A program logs the same few hundred lists over and over, so that sorting, escaping and judging names happens once for
 * each and not once a line. What is remembered is bounded, because keys may come from outside: when it is too much,
 * everything is forgotten and learnt anew.
 */
import { jsonText } from "./text.js";
import { Slot } from "./key-slot.js";

/** In characters, roughly. */
const BUDGET = 1 << 21;
const COST_OF_A_NODE = 64;
const COST_OF_A_SLOT = 256;

/** A list of keys: those inherited, then those of the fields themselves, in the order they came in. */
export class KeyList {
  readonly #shapes: KeyShapes;
  #lastKey: string | undefined;
  #lastList: KeyList | undefined;
  #longer: Map<string, KeyList> | undefined;
  #border: KeyList | undefined;
  #slots: readonly Slot[] | undefined;

  constructor(
    shapes: KeyShapes,
    readonly inherited: readonly string[],
    readonly keys: readonly string[],
  ) {
    this.#shapes = shapes;
  }

  /** The same list with `key` added. */
  plus(key: string): KeyList {
    return this.#lastKey === key && this.#lastList !== undefined ? this.#lastList : this.#find(key);
  }

  /** The list that inherits the keys of this one, and has none of its own yet. */
  border(): KeyList {
    return (this.#border ??= new KeyList(this.#shapes, this.keys, []));
  }

  /** What to write, in order: sorted by UTF-16 code unit, each key once. */
  slots(): readonly Slot[] {
    return (this.#slots ??= this.#makeSlots());
  }

  #find(key: string): KeyList {
    this.#longer ??= new Map();
    const list = this.#longer.get(key) ?? this.#add(key, this.#longer);
    this.#lastKey = key;
    this.#lastList = list;
    return list;
  }

  #add(key: string, longer: Map<string, KeyList>): KeyList {
    const list = new KeyList(this.#shapes, this.inherited, [...this.keys, key]);
    longer.set(key, list);
    this.#shapes.spend(COST_OF_A_NODE + key.length + list.keys.length);
    return list;
  }

  #makeSlots(): readonly Slot[] {
    const names = [...new Set([...this.inherited, ...this.keys])].toSorted();
    this.#shapes.spend(names.reduce((cost, name) => cost + COST_OF_A_SLOT + 4 * name.length, 0));
    return names.map(
      (name) =>
        new Slot(jsonText(name), this.#shapes.isSensitive(name), this.keys.indexOf(name), this.inherited.indexOf(name)),
    );
  }
}

/** What fields inherit: a list of keys at its border, and their values in the order of the list. */
export interface Inherited {
  readonly start: KeyList;
  readonly values: readonly unknown[];
}

export class KeyShapes {
  readonly isSensitive: (name: string) => boolean;
  #root: KeyList;
  #nothing: Inherited;
  #spent = 0;

  constructor(isSensitive: (name: string) => boolean) {
    this.isSensitive = isSensitive;
    this.#root = new KeyList(this, [], []);
    this.#nothing = { start: this.#root.border(), values: [] };
  }

  /** The empty list. Another object once everything was forgotten. */
  get root(): KeyList {
    return this.#root;
  }

  /** What fields inherit outside any span. */
  get nothing(): Inherited {
    return this.#nothing;
  }

  /** Pays for something remembered; beyond the budget everything is forgotten. */
  spend(cost: number): void {
    this.#spent += cost;
    if (this.#spent > BUDGET) this.forget();
  }

  /** For when names are judged otherwise than before. */
  forget(): void {
    this.#root = new KeyList(this, [], []);
    this.#nothing = { start: this.#root.border(), values: [] };
    this.#spent = 0;
  }
}
