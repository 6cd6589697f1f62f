import { expect } from "chai";
import * as fc from "fast-check";
import { depthFirst } from "../../lib/di/depth-first.js";

type Edges = Readonly<Record<string, string>>;

function traverse(roots: string, edges: Edges) {
  const { preorder, postorder, cycles } = depthFirst(roots, (node) => edges[node] ?? "");
  return { found: preorder.join(""), order: postorder.join(""), cycles: cycles.map((path) => path.join("")) };
}

describe("depthFirst", () => {
  const rows: readonly [string, string, Edges, ReturnType<typeof traverse>][] = [
    ["nothing", "", {}, { found: "", order: "", cycles: [] }],
    ["a chain", "a", { a: "b", b: "c" }, { found: "abc", order: "cba", cycles: [] }],
    ["a diamond", "a", { a: "bc", b: "d", c: "d" }, { found: "abdc", order: "dbca", cycles: [] }],
    ["two roots, one within the other", "ba", { a: "b" }, { found: "ba", order: "ba", cycles: [] }],
    ["a loop", "a", { a: "a" }, { found: "a", order: "a", cycles: ["aa"] }],
    ["a cycle of three", "a", { a: "b", b: "c", c: "a" }, { found: "abc", order: "cba", cycles: ["abca"] }],
    ["a cycle further in", "a", { a: "b", b: "c", c: "b" }, { found: "abc", order: "cba", cycles: ["bcb"] }],
    ["two cycles", "a", { a: "bc", b: "a", c: "a" }, { found: "abc", order: "bca", cycles: ["aba", "aca"] }],
  ];

  for (const [title, roots, edges, expected] of rows) {
    it(`traverses ${title}`, () => {
      const actual = traverse(roots, edges);

      expect(actual).to.deep.equal(expected);
    });
  }

  it("puts every node after the nodes it leads to, for any graph without cycles", () => {
    const graphs = fc.array(fc.array(fc.nat(30), { maxLength: 5 }), { maxLength: 30 });

    fc.assert(
      fc.property(graphs, (lists) => {
        const edges = (node: number) => (lists[node] ?? []).filter((next) => next < node);

        const { postorder, cycles } = depthFirst(lists.keys(), edges);

        expect(cycles).to.deep.equal([]);
        expect(postorder.length).to.equal(new Set(postorder).size);
        for (const node of postorder) {
          for (const next of edges(node)) expect(postorder.indexOf(next)).to.be.below(postorder.indexOf(node));
        }
      }),
    );
  });

  it("follows a chain of 100,000 nodes without recursion", () => {
    const { postorder } = depthFirst([0], (node) => (node < 100_000 ? [node + 1] : []));

    expect(postorder.at(0)).to.equal(100_000);
  });
});
