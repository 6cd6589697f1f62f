/**
 * Remembers the key lists of logged objects: their sorted order, their encoded form and their redaction. A program logs the same few
 * hundred lists again and again, so keys are sorted, escaped and checked once for each list and not once for each line.
 *
 * The memory is bounded, because keys may come from outside: beyond the budget the cache drops all entries and starts again.
 */
import { EncodedKey } from "./json-object.js";
import { toJsonString } from "./json-text.js";

/** In characters, roughly. */
const BUDGET = 1 << 21;
const COST_OF_A_LIST = 64;
const COST_OF_A_KEY = 256;

/** The keys that an object inherits, and its own keys in the order in which they were added. The lists of a cache form a tree. */
export class KeyList {
  private readonly cache: KeyCache;
  private lastKey: string | undefined;
  private lastList: KeyList | undefined;
  private longer: Map<string, KeyList> | undefined;
  private inheriting: KeyList | undefined;
  private encoded: readonly EncodedKey[] | undefined;

  constructor(
    cache: KeyCache,
    readonly inherited: readonly string[],
    readonly keys: readonly string[],
  ) {
    this.cache = cache;
  }

  /** The same list with `key` added. */
  plus(key: string): KeyList {
    return this.lastKey === key && this.lastList !== undefined ? this.lastList : this.find(key);
  }

  /** The list that inherits the keys of this list and has no own keys. */
  asInherited(): KeyList {
    return (this.inheriting ??= new KeyList(this.cache, this.keys, []));
  }

  /** Each key once, sorted by UTF-16 code unit. */
  encodedKeys(): readonly EncodedKey[] {
    return (this.encoded ??= this.encode());
  }

  private find(key: string): KeyList {
    this.longer ??= new Map();
    const list = this.longer.get(key) ?? this.add(key, this.longer);
    this.lastKey = key;
    this.lastList = list;
    return list;
  }

  private add(key: string, longer: Map<string, KeyList>): KeyList {
    const list = new KeyList(this.cache, this.inherited, [...this.keys, key]);
    longer.set(key, list);
    this.cache.spend(COST_OF_A_LIST + key.length + list.keys.length);
    return list;
  }

  private encode(): readonly EncodedKey[] {
    const names = [...new Set([...this.inherited, ...this.keys])].toSorted();
    this.cache.spend(names.reduce((cost, name) => cost + COST_OF_A_KEY + 4 * name.length, 0));
    return names.map((name) => this.encodeKey(name));
  }

  private encodeKey(name: string): EncodedKey {
    const isRedacted = this.cache.isSensitive(name);
    return new EncodedKey(toJsonString(name), isRedacted, this.keys.indexOf(name), this.inherited.indexOf(name));
  }
}

/** The fields that an event inherits from its spans. */
export interface InheritedFields {
  /** A list that has only inherited keys. */
  readonly keys: KeyList;
  /** The values of the inherited keys, in the order of the keys. */
  readonly values: readonly unknown[];
}

export class KeyCache {
  readonly isSensitive: (name: string) => boolean;
  private rootKeys: KeyList;
  private noInheritance: InheritedFields;
  private spent = 0;

  constructor(isSensitive: (name: string) => boolean) {
    this.isSensitive = isSensitive;
    this.rootKeys = new KeyList(this, [], []);
    this.noInheritance = { keys: this.rootKeys.asInherited(), values: [] };
  }

  /** The empty list. It is another object after each `clear`. */
  get root(): KeyList {
    return this.rootKeys;
  }

  /** The inherited fields of an event outside any span. */
  get nothingInherited(): InheritedFields {
    return this.noInheritance;
  }

  /** Adds the cost of an entry that the cache remembers. Beyond the budget the cache is cleared. */
  spend(cost: number): void {
    this.spent += cost;
    if (this.spent > BUDGET) this.clear();
  }

  /** Drops all lists. Call it when `isSensitive` returns other results than before. */
  clear(): void {
    this.rootKeys = new KeyList(this, [], []);
    this.noInheritance = { keys: this.rootKeys.asInherited(), values: [] };
    this.spent = 0;
  }
}
