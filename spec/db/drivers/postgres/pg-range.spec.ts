/** The range of the package `pg`: the driver uses members of it that are not public, and each of its minor versions may rename them. */
import { expect } from "chai";
import { PEER, pg } from "../../../../lib/db/drivers/postgres/postgres-package.js";
import { expectPeer } from "../../../../lib/errors/optional-package.js";
import { errorOf } from "../../../support/error-of.js";
import { manifest } from "../../../support/sources.js";

/** The members of a result: `NamedQuery` caches those that a description of the columns sets. */
const RESULT = [
  "RowCtor",
  "_parsers",
  "_prebuiltEmptyResultObject",
  "_types",
  "command",
  "fields",
  "oid",
  "rowAsArray",
  "rowCount",
  "rows",
];

describe("the range of the package pg", () => {
  it("is the same in package.json and at the import of the entry point", () => {
    expect(manifest().peerDependencies?.["pg"]).to.equal(`>=${PEER.from} <${PEER.before}`);
  });

  it("ends behind the minor version that the specs run with", () => {
    const [major = 0, minor = 0] = PEER.from.split(".").map(Number);

    expect(manifest().devDependencies["pg"]).to.equal(`~${PEER.from}`);
    expect(PEER.before).to.equal(`${major}.${minor + 1}.0`);
    expect(() => expectPeer(PEER)).to.not.throw();
    expect(errorOf(() => expectPeer(PEER, PEER.before)).message).to.contain("from 8.23.1 to below 8.24.0");
  });

  it("has only versions whose results have the members that the driver knows", () => {
    expect(Object.keys(new pg.Result("", pg.types)).toSorted()).to.deep.equal(RESULT);
    const methods = Object.getOwnPropertyNames(pg.Query.prototype);
    expect(methods).to.include.members(["prepare", "handleDataRow", "handleReadyForQuery", "handleCopyInResponse"]);
  });
});
