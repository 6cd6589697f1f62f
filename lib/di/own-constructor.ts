/**
 * Whether a class declares a constructor without parameters. A class without a constructor and a class with an empty one look alike at
 * run time; only their source text differs. The first takes the parameters of its parent, the second takes none.
 *
 * Asked only for a class without decorator metadata. A text that cannot be read counts as a class without a constructor.
 *
 * @example
 * declaresEmptyConstructor(class extends SqlLinks { constructor() { super(fakePool); } }); // true
 */

/** Comments, strings and templates, whose braces and words do not count; then braces, then other text. */
const PARTS = /\/\*[^]*?\*\/|\/\/[^\n]*|(["'`])(?:\\[^]|(?!\1)[^\\])*\1|[{}]|[^{}/"'`]+|[^]/g;
const EMPTY_CONSTRUCTOR = /(?<![\w$.#]|\bstatic\s+)constructor\s*\(\s*\)\s*\{/;

export function declaresEmptyConstructor(target: object): boolean {
  return EMPTY_CONSTRUCTOR.test(membersOf(Function.prototype.toString.call(target)));
}

/** The text between the outermost braces, without the content of inner braces; `""` where braces do not pair. */
function membersOf(source: string): string {
  let [depth, members] = [0, ""];
  for (const [part] of source.matchAll(PARTS)) {
    if (part === "}") depth -= 1;
    if (depth === 1) members += /^["'`]|^\/[/*]/.test(part) ? " " : part;
    if (part === "{") depth += 1;
  }
  return depth === 0 ? members : "";
}
