/**
 * Depth-first traversal of a directed graph, without recursion, so that a chain of any length fits on the stack. It returns the order in
 * which the nodes can be built, and the cycles. Deterministic: roots and edges are followed in the given order.
 */
export interface GraphOrder<Node> {
  /** Every node once, in the order of discovery. */
  readonly preorder: readonly Node[];
  /** Every node once, after every node that it leads to. An edge that closes a cycle does not count. */
  readonly postorder: readonly Node[];
  /** One path for each edge that closes a cycle; the first node is repeated at the end. */
  readonly cycles: readonly (readonly Node[])[];
}

interface OpenNode<Node> {
  readonly node: Node;
  readonly edges: Iterator<Node>;
}

/** Traverses from `roots` along `edges`. At least one cycle is reported for every set of nodes that lie on cycles. */
export function depthFirst<Node>(roots: Iterable<Node>, edges: (node: Node) => Iterable<Node>): GraphOrder<Node> {
  const isFinished = new Map<Node, boolean>();
  const postorder: Node[] = [];
  const cycles: Node[][] = [];
  const path: OpenNode<Node>[] = [];
  const enter = (node: Node): void => {
    isFinished.set(node, false);
    path.push({ node, edges: edges(node)[Symbol.iterator]() });
  };
  const advance = ({ node, edges: rest }: OpenNode<Node>): void => {
    const next = rest.next();
    if (next.done === true) {
      isFinished.set(node, true);
      postorder.push(node);
      path.pop();
    } else if (!isFinished.has(next.value)) enter(next.value);
    else if (isFinished.get(next.value) === false) cycles.push(toCycle(path, next.value));
  };
  for (const root of roots) {
    if (!isFinished.has(root)) enter(root);
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) advance(step);
  }
  return { preorder: [...isFinished.keys()], postorder, cycles };
}

function toCycle<Node>(path: readonly OpenNode<Node>[], node: Node): Node[] {
  const nodes = path.map((step) => step.node);
  return [...nodes.slice(nodes.indexOf(node)), node];
}
