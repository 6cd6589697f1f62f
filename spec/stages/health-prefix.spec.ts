import { expect } from "chai";
import { checkHealthPrefix } from "../../lib/stages/health.js";

describe("The prefix of the health endpoints", () => {
  for (const prefix of ["/up", "/health", "/internal/up", "/.well-known/up", "/a%20b", "/v1.0/~up", "/..."]) {
    it(`may be ${prefix}`, () => {
      expect(checkHealthPrefix(prefix)).to.equal(undefined);
    });
  }

  const refused = [
    "",
    "/",
    "up",
    "/up/",
    "//up",
    "/a//b",
    "up/",
    "/.",
    "/a/../b",
    "/up?x",
    "/up#x",
    "/u p",
    "/{id}",
    "/ü",
    "/a%2",
    "/a\\b",
    "/a\n",
  ];
  for (const prefix of refused) {
    it(`may not be ${JSON.stringify(prefix)}`, () => {
      const finding = checkHealthPrefix(prefix);

      expect(finding?.code).to.equal("E_HEALTH_PREFIX");
      expect(finding?.what).to.contain(JSON.stringify(prefix));
    });
  }
});
