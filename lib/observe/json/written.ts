/** A value that is JSON already, and goes into the line as it is. */
export class Written {
  readonly #json: string;

  constructor(json: string) {
    this.#json = json;
  }

  /** The JSON, if `value` is one of these; asked without touching the value, which may be a proxy. */
  static of(value: object): string | undefined {
    return #json in value ? value.#json : undefined;
  }
}
