/** Tells the compiler a resource from a table, whose methods are not bound by name. Exists in types only; nothing has it. */
declare const resourceMark: unique symbol;

export interface ResourceMark {
  readonly [resourceMark]: true;
}
