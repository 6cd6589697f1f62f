/**
 * One walk over a directed graph, depth first and without recursion, so that a chain of any length fits: it gives the order in which
 * things can be built and every cycle it meets. Deterministic: roots and edges are followed in the order given.
 */
export interface Traversal<Node> {
  /** Every node once, in the order of discovery. */
  readonly preorder: readonly Node[];
  /** Every node once, after everything it leads to (but along the edge that closes a cycle). */
  readonly postorder: readonly Node[];
  /** One path per closing edge; its first node is repeated at its end. */
  readonly cycles: readonly (readonly Node[])[];
}

interface Step<Node> {
  readonly node: Node;
  readonly edges: Iterator<Node>;
}

/** Walks from `roots` along `edges`. At least one cycle is reported for every set of nodes that lie on cycles. */
export function depthFirst<Node>(roots: Iterable<Node>, edges: (node: Node) => Iterable<Node>): Traversal<Node> {
  const finished = new Map<Node, boolean>();
  const order: Node[] = [];
  const cycles: Node[][] = [];
  const path: Step<Node>[] = [];
  const enter = (node: Node): void => {
    finished.set(node, false);
    path.push({ node, edges: edges(node)[Symbol.iterator]() });
  };
  const advance = ({ node, edges: rest }: Step<Node>): void => {
    const next = rest.next();
    if (next.done === true) {
      finished.set(node, true);
      order.push(node);
      path.pop();
    } else if (!finished.has(next.value)) enter(next.value);
    else if (finished.get(next.value) === false) cycles.push(closing(path, next.value));
  };
  for (const root of roots) {
    if (!finished.has(root)) enter(root);
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) advance(step);
  }
  return { preorder: [...finished.keys()], postorder: order, cycles };
}

function closing<Node>(path: readonly Step<Node>[], node: Node): Node[] {
  const nodes = path.map((step) => step.node);
  return [...nodes.slice(nodes.indexOf(node)), node];
}
