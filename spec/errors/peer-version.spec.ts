import { expect } from "chai";
import { FrameworkError } from "../../lib/errors/framework-error.js";
import { expectClasses, expectPeer, isInstalled } from "../../lib/errors/optional-package.js";
import { errorOf } from "../support/error-of.js";

const peer = { entry: "some/entry", name: "ioredis", from: "5.4.1", install: "ioredis@6" };
const absent = { ...peer, name: ["no", "such", "package"].join("-") };

describe("expectPeer", () => {
  for (const version of ["0.219.0", "4.30.1", "5.3.9", "5.4.0", "5.4.0-beta.2"]) {
    it(`refuses ${version} where 5.4.1 is the oldest, and says what is installed and what to install`, () => {
      const error = errorOf(() => expectPeer(peer, version));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_PEER_VERSION");
      expect(error.message).to.equal(
        `some/entry needs ioredis 5.4.1 or newer; installed is ioredis ${version}: npm install ioredis@6`,
      );
    });
  }

  for (const version of ["5.4.1", "5.4.1-rc.1", "5.4.10", "5.10.0", "6.0.0", "10.0.0+build"]) {
    it(`takes ${version} where 5.4.1 is the oldest`, () => {
      expect(() => expectPeer(peer, version)).to.not.throw();
    });
  }

  it("refuses a version from the upper bound on, and names both bounds", () => {
    const bounded = { ...peer, before: "6.0.0" };

    expect(() => expectPeer(bounded, "5.11.1")).to.not.throw();
    for (const version of ["6.0.0", "6.1.0", "10.0.0"]) {
      expect(errorOf(() => expectPeer(bounded, version)).message).to.equal(
        `some/entry needs ioredis from 5.4.1 to below 6.0.0 on Node ${process.versions.node}; installed is ioredis ${version}: npm install ioredis@6`,
      );
    }
  });

  it("reads the version of the installed package", () => {
    expect(errorOf(() => expectPeer({ ...peer, from: "1000.0.0" })).message).to.match(
      /installed is ioredis \d+\.\d+\.\d+:/,
    );
    expect(() => expectPeer(peer)).to.not.throw();
  });

  it("leaves a package that is not there to its import", () => {
    expect(() => expectPeer(absent)).to.not.throw();
  });
});

describe("isInstalled", () => {
  it("tells a package that is new enough from an older one and from none", () => {
    expect(isInstalled("ioredis", "5.4.1")).to.equal(true);
    expect(isInstalled("ioredis", "1000.0.0")).to.equal(false);
    expect(isInstalled(absent.name, "0.0.0")).to.equal(false);
  });
});

describe("expectClasses", () => {
  it("refuses a package without the class, and names both", () => {
    const error = errorOf(() => expectClasses(peer, { Redis: class {}, Cluster: 1 }, ["Redis", "Cluster"], "7.0.0"));

    expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_PEER_VERSION");
    expect(error.message).to.equal(
      "some/entry needs ioredis 5.4.1 or newer; installed is ioredis 7.0.0, which does not export Cluster: npm install ioredis@6",
    );
  });

  it("takes a package that exports them", () => {
    expect(() => expectClasses(peer, { Redis: class {} }, ["Redis"])).to.not.throw();
  });
});
