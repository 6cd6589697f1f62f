/** The classes of the public interface and those that refusals without an error stand for. */
import { expect } from "chai";
import * as main from "../../lib/entries/main.js";
import { toFrameworkError } from "../../lib/errors/problem-error.js";

const { FrameworkError, MethodNotAllowedError, Problem, StartupError, ValidationError } = main;

type ErrorClass = new (detail: string) => main.FrameworkError;

/** The classes with a status of their own. The subclasses of these have the status of their base. */
function classesWithStatus(): readonly ErrorClass[] {
  const classes = Object.values(main).filter((each) => Object.getPrototypeOf(each) === FrameworkError);
  // The first is never sent. The second needs the wrong fields, which a refusal does not have. The third takes methods.
  const others: readonly unknown[] = [StartupError, ValidationError, MethodNotAllowedError];
  return classes.filter((each) => !others.includes(each)) as ErrorClass[];
}

describe("the error of a refusal", () => {
  for (const Class of classesWithStatus()) {
    it(`is ${Class.name} for its status`, () => {
      const { status } = new Class("detail");

      const error = toFrameworkError(Problem.of(status, "the detail"), "");

      expect(error).to.be.instanceOf(Class).with.property("constructor", Class);
      expect(error).to.include({ status, message: "the detail" });
    });
  }

  it("has a class for ten statuses, and another for 405", () => {
    const allowed = toFrameworkError(Problem.of(405, "no"), "GET, HEAD");

    expect(classesWithStatus()).to.have.length(10);
    expect(allowed).to.be.instanceOf(MethodNotAllowedError).with.deep.property("headers", { Allow: "GET, HEAD" });
  });

  it("is a FrameworkError for another status", () => {
    expect(toFrameworkError(Problem.of(418, "teapot"), "")).to.have.property("constructor", FrameworkError);
  });
});
