import { expect } from "chai";
import * as fc from "fast-check";
import { SubsystemRegistry } from "../../lib/lifecycle/subsystem-registry.js";
import { Subsystem, SUBSYSTEM_KINDS, type SubsystemKind } from "../../lib/lifecycle/subsystem.js";
import { Recorded } from "./recorded.js";

const kinds = fc.constantFrom(...SUBSYSTEM_KINDS);
const rank = (kind: SubsystemKind) => SUBSYSTEM_KINDS.indexOf(kind);

class Ledger extends Recorded {}

describe("Roster", () => {
  it("orders the kinds as the specification does", () => {
    expect(SUBSYSTEM_KINDS).to.deep.equal(["database", "jobs", "cache", "storage", "mail"]);
  });

  it("puts any registration into the order of kinds, and keeps the order within a kind", () => {
    fc.assert(
      fc.property(fc.array(kinds), (registered) => {
        const subsystems = registered.map((kind) => new Recorded(kind));

        const ordered = new SubsystemRegistry(subsystems).members.map(({ subsystem }) => subsystem);

        expect(ordered).to.have.members(subsystems);
        for (const [index, later] of ordered.entries()) {
          const earlier = ordered[index - 1];
          if (earlier === undefined) continue;
          expect(rank(earlier.kind)).to.be.at.most(rank(later.kind));
          if (earlier.kind === later.kind) {
            expect(subsystems.indexOf(earlier as Recorded)).to.be.below(subsystems.indexOf(later as Recorded));
          }
        }
      }),
    );
  });

  it("calls the only one of a kind by its kind, and several by kind and name", () => {
    const subsystems = [
      new Recorded("mail", [], { name: "Postman" }),
      new Recorded("database", [], { name: "main" }),
      new Ledger("database"),
    ];

    const names = new SubsystemRegistry(subsystems).members.map(({ name }) => name);

    expect(names).to.deep.equal(["database:main", "database:Ledger", "mail"]);
  });

  it("takes the class's name for a name that is blank, and has a word for a class without one", () => {
    const Nameless = (() => class extends Recorded {})();
    const subsystems = [new Ledger("cache", [], { name: " " }), new Nameless("cache")];

    const names = new SubsystemRegistry(subsystems).members.map(({ name }) => name);

    expect(names).to.deep.equal(["cache:Ledger", "cache:anonymous"]);
  });

  it("finds nothing wrong with subsystems that can be told apart", () => {
    expect(
      new SubsystemRegistry([new Ledger("database"), new Recorded("database"), new Recorded("mail")]).check(),
    ).to.deep.equal([]);
    expect(new SubsystemRegistry().check()).to.deep.equal([]);
  });

  it("finds each name that two share, once", () => {
    const roster = new SubsystemRegistry([new Ledger("database"), new Ledger("database"), new Ledger("database")]);

    const findings = roster.check();

    expect(findings.map(({ code }) => code)).to.deep.equal(["E_SUBSYSTEM_NAME"]);
    expect(findings[0]?.what).to.equal("two subsystems are called database:Ledger");
  });

  it("finds a kind that is none", () => {
    class Cloud extends Subsystem {
      // What a caller without types may write.
      readonly kind = "cloud" as unknown as SubsystemKind;
      start() {}
      stop() {}
    }

    const findings = new SubsystemRegistry([new Cloud()]).check();

    expect(findings).to.have.length(1);
    expect(findings[0]).to.include({ code: "E_SUBSYSTEM_KIND", where: "Cloud" });
  });
});
