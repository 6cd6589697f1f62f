/** One result of a check of `stagecraft doctor`. */
export interface Finding {
  readonly level: "ok" | "warn" | "fail";
  /** `node`, `packages`. */
  readonly check: string;
  readonly what: string;
  /** Each finding that is not ok has one. */
  readonly fix?: string;
}
