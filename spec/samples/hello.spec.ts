import { expect } from "chai";
import { firstBlock, textOf } from "../support/sources.js";

// The specs of the guide replay the readme's response with this program.
describe("samples/hello", () => {
  it("is the first program of the readme, whole", () => {
    expect(firstBlock("README.md", "ts")).to.equal(textOf("samples/hello/main.ts"));
  });
});
