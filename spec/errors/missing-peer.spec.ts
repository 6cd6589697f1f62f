import { expect } from "chai";
import { missingPeer } from "../../lib/errors/optional-package.js";
import { FrameworkError } from "../../lib/errors/framework-error.js";
import { errorOf } from "../support/error-of.js";

const refuse = missingPeer("@stagecraft/framework/cache/redis", "ioredis", "ioredis@6");

describe("missingPeer", () => {
  it("says what to install where the package is not there", async () => {
    const missing = ["no", "such", "package", "at", "all"].join("-");
    const cause: unknown = await import(missing).catch((error: unknown) => error);

    const error = errorOf(() => missingPeer("some/entry", missing, `${missing}@3`)(cause));

    expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_PEER_MISSING");
    expect(error.message).to.contain("some/entry").and.to.contain("npm install no-such-package-at-all@3");
    expect(error.cause).to.equal(cause);
  });

  for (const other of [
    Object.assign(new Error("Cannot find package 'denque' imported from ioredis"), { code: "ERR_MODULE_NOT_FOUND" }),
    new SyntaxError("Unexpected token"),
  ]) {
    it(`hands on what is another story: ${other.message}`, () => {
      expect(errorOf(() => refuse(other))).to.equal(other);
    });
  }
});
