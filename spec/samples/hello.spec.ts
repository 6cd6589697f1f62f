import { expect } from "chai";
import { textOf } from "../support/sources.js";

// The specs of the guide replay the readme's response with this program.
describe("samples/hello", () => {
  it("is the first program of the readme, whole: an application, and the file that runs it", () => {
    const [application, program] = (textOf("README.md") ?? "").matchAll(/^```ts\n([\s\S]*?)^```/gm);

    expect(application?.[1]).to.equal(textOf("samples/hello/app.ts"));
    expect(program?.[1]).to.equal(textOf("samples/hello/main.ts"));
  });
});
