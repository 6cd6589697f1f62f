import { expect } from "chai";
import {
  BadRequestError,
  ConflictError,
  ForbiddenError,
  FrameworkError,
  MalformedJsonError,
  MethodNotAllowedError,
  NotFoundError,
  PayloadTooLargeError,
  RequestTimeoutError,
  TooManyRequestsError,
  UnauthorizedError,
  UnavailableError,
  UnsupportedMediaTypeError,
  ValidationError,
} from "../../lib/errors/framework-error.js";
import { Problem } from "../../lib/errors/problem.js";

const ERRORS: readonly (readonly [FrameworkError, number, string, string, string])[] = [
  [new BadRequestError(), 400, "bad-request", "Bad request", "E_BAD_REQUEST"],
  [new MalformedJsonError(), 400, "malformed-json", "Malformed JSON request body", "E_MALFORMED_JSON"],
  [new UnauthorizedError(), 401, "authentication", "Authentication required", "E_UNAUTHORIZED"],
  [new ForbiddenError(), 403, "authorization", "Access denied", "E_FORBIDDEN"],
  [new ForbiddenError("x", { slug: "csrf", code: "E_CSRF" }), 403, "csrf", "CSRF check failed", "E_CSRF"],
  [new NotFoundError(), 404, "not-found", "Resource not found", "E_NOT_FOUND"],
  [new MethodNotAllowedError(["GET"]), 405, "method-not-allowed", "Method not allowed", "E_METHOD"],
  [new RequestTimeoutError(), 408, "timeout", "Request timed out", "E_TIMEOUT"],
  [new ConflictError(), 409, "conflict", "Request conflicts with current state", "E_CONFLICT"],
  [new PayloadTooLargeError(), 413, "payload-too-large", "Request body too large", "E_TOO_LARGE"],
  [new UnsupportedMediaTypeError(), 415, "unsupported-media-type", "Unsupported media type", "E_MEDIA_TYPE"],
  [new ValidationError({}), 422, "validation", "Validation failed", "E_VALIDATION"],
  [new TooManyRequestsError(), 429, "rate-limit", "Rate limit exceeded", "E_RATE_LIMIT"],
  [new FrameworkError(), 500, "internal", "Internal server error", "E_INTERNAL"],
  [new UnavailableError(), 503, "unavailable", "Service unavailable", "E_UNAVAILABLE"],
];

describe("Problem", () => {
  for (const [error, status, slug, title, code] of ERRORS) {
    it(`describes ${error.name} (${code}) as ${status} ${slug}`, () => {
      const document = Problem.from(error).toJSON();

      expect(error.code).to.equal(code);
      expect(document).to.include({ type: `urn:framework:problem:${slug}`, title, status });
    });
  }

  it("gives other statuses the type about:blank and their reason phrase as the title", () => {
    expect(Problem.of(418).toJSON()).to.deep.equal({ type: "about:blank", title: "I'm a Teapot", status: 418 });
  });

  it("keeps the order type, title, status, detail, instance, then extensions by name", () => {
    const problem = new Problem(404, { detail: "d", instance: "/x", extensions: { zebra: 1, apple: 2 } });

    expect(Object.keys(problem.toJSON())).to.deep.equal([
      "type",
      "title",
      "status",
      "detail",
      "instance",
      "apple",
      "zebra",
    ]);
  });

  it("drops extensions that have the name of a member, are null, or cannot be serialised", () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    const extensions = { status: 200, type: "x", nothing: null, missing: undefined, cycle, big: 1n, kept: true };

    const document = new Problem(409, { extensions }).toJSON();

    expect(document["status"]).to.equal(409);
    expect(Object.keys(document)).to.deep.equal(["type", "title", "status", "kept"]);
  });

  it("keeps an extension named __proto__ as a member of its own", () => {
    const extensions = JSON.parse('{"__proto__":"mine"}') as Record<string, unknown>;

    expect(new Problem(400, { extensions }).text()).to.contain('"__proto__":"mine"');
  });

  it("never contains code or cause", () => {
    const error = new FrameworkError("detail", { code: "E_SECRET_CODE", cause: new Error("secret cause") });

    expect(Problem.from(error).text()).not.to.match(/E_SECRET_CODE|secret cause/);
  });
});
