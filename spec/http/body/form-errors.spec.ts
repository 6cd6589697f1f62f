/** The faults of a contract by the names of the fields of a form. */
import { expect } from "chai";
import { ValidationError } from "../../../lib/errors/framework-error.js";
import { getFormErrors, InputValidationError } from "../../../lib/http/body/validate.js";

const faults = [{ code: "invalid" }];

describe("the errors of a form", () => {
  it("do not name the part of the request that a contract names", () => {
    const error = new InputValidationError({ "body.url": faults, body: faults, "query.page": faults });
    expect(error).to.include({ status: 422, name: "ValidationError" });
    expect({ ...getFormErrors(error) }).to.deep.equal({ url: faults, "": faults, page: faults });
  });

  it("stay as they are where the application throws them", () => {
    expect(getFormErrors(new ValidationError({ "body.url": faults }))).to.deep.equal({ "body.url": faults });
  });
});
