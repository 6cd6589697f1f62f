import { expect } from "chai";
import { newUuid } from "../../lib/observe/request-id.js";

const VERSION_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const uuids = Array.from({ length: 5000 }, newUuid);

describe("a new UUID", () => {
  it("is written as RFC 9562 has it, of version 4", () => {
    expect(uuids.filter((uuid) => !VERSION_4.test(uuid))).to.deep.equal([]);
  });

  it("is another one each time", () => {
    expect(new Set(uuids).size).to.equal(uuids.length);
  });

  it("is random in every digit but that of the version", () => {
    const kinds = Array.from({ length: 36 }, (_value, place) => new Set(uuids.map((uuid) => uuid.charAt(place))).size);

    expect(kinds.join(" ")).to.equal(
      "16 16 16 16 16 16 16 16 1 16 16 16 16 1 1 16 16 16 1 4 16 16 16 1 16 16 16 16 16 16 16 16 16 16 16 16",
    );
  });
});
