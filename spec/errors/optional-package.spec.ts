import { expect } from "chai";
import { FrameworkError } from "../../lib/errors/framework-error.js";
import {
  expectClasses,
  expectInstalled,
  expectPeer,
  isInstalled,
  isMissing,
  isOlder,
  requirePeer,
} from "../../lib/errors/optional-package.js";
import { errorOf } from "../support/error-of.js";

const peer = { entry: "some/entry", name: "ioredis", from: "5.4.1", install: "ioredis@6" };
const absent = { ...peer, name: ["no", "such", "package"].join("-") };

/** The error of Node for `import("ioredis")` where ioredis lacks one of its own packages. */
const brokenPackage = Object.assign(new Error("Cannot find package 'denque' imported from ioredis"), {
  code: "ERR_MODULE_NOT_FOUND",
});

describe("requirePeer", () => {
  it("names the command that installs a missing package", () => {
    const error = errorOf(() => requirePeer({ ...absent, install: `${absent.name}@3` }));

    expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_PEER_MISSING");
    expect(error.message).to.equal(
      "some/entry needs the package no-such-package, which is not installed: npm install no-such-package@3",
    );
    expect(isMissing(error.cause, absent.name)).to.equal(true);
  });
});

describe("expectInstalled", () => {
  it("has the error of requirePeer for a missing package", () => {
    const [expected, error] = [requirePeer, expectInstalled].map((each) => errorOf(() => each(absent)));

    expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_PEER_MISSING");
    expect(error?.message).to.equal(expected?.message);
  });

  it("refuses a version out of the range", () => {
    const error = errorOf(() => expectInstalled({ ...peer, from: "999.0.0" }));

    expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_PEER_VERSION");
  });
});

/** The message of Plug'n'Play of Yarn. */
function missedByYarn(required: string, by: string): string {
  return `${by} tried to access ${required} (a peer dependency) but it isn't provided by your application; this makes the require call ambiguous and unsound.\n\nRequired package: ${required}\nRequired by: ${by}@virtual:1`;
}

describe("isMissing", () => {
  it("is true for the failure of an import", async () => {
    expect(isMissing(await import(absent.name).catch((error: unknown) => error), absent.name)).to.equal(true);
  });

  for (const other of [brokenPackage, new SyntaxError("Unexpected token")]) {
    it(`is false for another failure: ${other.message}`, () => {
      expect(isMissing(other, peer.name)).to.equal(false);
    });
  }

  const rows: readonly [title: string, required: string, by: string, expected: boolean][] = [
    ["the package itself", "ioredis", "@stagecraft/framework", true],
    ["a package that it needs", "denque", "ioredis", false],
    ["a package whose name begins with its name", "ioredis-mock", "@stagecraft/framework", false],
  ];

  for (const [title, required, by, expected] of rows) {
    it(`is ${expected} where Yarn misses ${title}`, () => {
      const cause = Object.assign(new Error(missedByYarn(required, by)), { code: "MODULE_NOT_FOUND" });

      expect(isMissing(cause, "ioredis")).to.equal(expected);
    });
  }
});

describe("expectPeer", () => {
  for (const version of ["0.219.0", "4.30.1", "5.3.9", "5.4.0", "5.4.0-beta.2"]) {
    it(`refuses ${version} if 5.4.1 is the oldest, and names the installed version and the command that installs the right one`, () => {
      const error = errorOf(() => expectPeer(peer, version));

      expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_PEER_VERSION");
      expect(error.message).to.equal(
        `some/entry needs ioredis 5.4.1 or newer; installed is ioredis ${version}: npm install ioredis@6`,
      );
    });
  }

  for (const version of ["5.4.1", "5.4.1-rc.1", "5.4.10", "5.10.0", "6.0.0", "10.0.0+build"]) {
    it(`accepts ${version} if 5.4.1 is the oldest`, () => {
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

  it("ignores a missing package, which its import reports", () => {
    expect(() => expectPeer(absent)).to.not.throw();
  });
});

describe("isInstalled", () => {
  it("is true only for a package that is new enough", () => {
    expect(isInstalled("ioredis", "5.4.1")).to.equal(true);
    expect(isInstalled("ioredis", "1000.0.0")).to.equal(false);
    expect(isInstalled(absent.name, "0.0.0")).to.equal(false);
  });
});

describe("isOlder", () => {
  for (const [version, from, older] of [
    ["5.4.0", "5.4.1", true],
    ["5.4.1", "5.4.1", false],
    ["4.30.1", "5.4.1", true],
    ["5.10.0", "5.4.1", false],
    ["5.4.1-rc.1", "5.4.1", false],
    ["5", "5.0.0", false],
  ] as const) {
    it(`is ${String(older)} for ${version} compared with ${from}`, () => {
      expect(isOlder(version, from)).to.equal(older);
    });
  }
});

describe("expectClasses", () => {
  it("refuses a package without the class, and names the class", () => {
    const error = errorOf(() => expectClasses(peer, { Redis: class {}, Cluster: 1 }, ["Redis", "Cluster"], "7.0.0"));

    expect(error).to.be.instanceOf(FrameworkError).with.property("code", "E_PEER_VERSION");
    expect(error.message).to.equal(
      "some/entry needs ioredis 5.4.1 or newer; installed is ioredis 7.0.0, which does not export Cluster: npm install ioredis@6",
    );
  });

  it("accepts a package that exports all classes", () => {
    expect(() => expectClasses(peer, { Redis: class {} }, ["Redis"])).to.not.throw();
  });
});
