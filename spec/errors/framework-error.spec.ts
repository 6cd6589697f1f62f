import { expect } from "chai";
import { FrameworkError, MethodNotAllowedError, UnauthorizedError } from "../../lib/errors/framework-error.js";

describe("FrameworkError", () => {
  for (const status of [0, 200, 399, 600, 404.5, Number.NaN]) {
    it(`replaces the status ${status} by 500`, () => {
      expect(new FrameworkError("x", { status }).status).to.equal(500);
    });
  }

  it("puts a challenge into WWW-Authenticate and the allowed methods into Allow", () => {
    expect(new UnauthorizedError("x", { challenge: "Bearer" }).headers).to.deep.equal({ "WWW-Authenticate": "Bearer" });
    expect(new MethodNotAllowedError(["GET", "HEAD"]).headers).to.deep.equal({ Allow: "GET, HEAD" });
  });
});
