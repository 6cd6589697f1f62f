import { expect } from "chai";
import { BoundedMemo } from "../../../lib/http/request/bounded-memo.js";

describe("BoundedMemo", () => {
  it("computes the value of a text once", () => {
    const { memo, worked } = counting();

    const values = [memo.get("a"), memo.get("a"), memo.get("b"), memo.get("a")];

    expect(values).to.deep.equal(["A", "A", "B", "A"]);
    expect(worked).to.deep.equal(["a", "b"]);
  });

  it("drops all values when it is full", () => {
    const { memo, worked } = counting();

    for (const text of ["a", "b", "c", "c", "a"]) memo.get(text);

    expect(worked).to.deep.equal(["a", "b", "c", "a"]);
  });

  it("does not store the value of a long text", () => {
    const { memo, worked } = counting();
    const long = "x".repeat(257);

    memo.get(long);
    memo.get(long);

    expect(worked).to.have.length(2);
  });
});

function counting(): { memo: BoundedMemo<string>; worked: string[] } {
  const worked: string[] = [];
  const memo = new BoundedMemo((text) => {
    worked.push(text);
    return text.toUpperCase();
  }, 2);
  return { memo, worked };
}
