import { expect } from "chai";
import * as fc from "fast-check";
import { SubsystemRegistry } from "../../lib/lifecycle/subsystem-registry.js";
import { Subsystem, SUBSYSTEM_KINDS, type SubsystemKind } from "../../lib/lifecycle/subsystem.js";
import { Recorded } from "./recorded.js";

const kinds = fc.constantFrom(...SUBSYSTEM_KINDS);
const rank = (kind: SubsystemKind) => SUBSYSTEM_KINDS.indexOf(kind);

class Ledger extends Recorded {}

describe("SubsystemRegistry", () => {
  it("has the kinds in start order", () => {
    expect(SUBSYSTEM_KINDS).to.deep.equal(["database", "jobs", "cache", "storage", "mail", "oauth", "maintenance"]);
  });

  it("sorts any registration by kind, and keeps the order within a kind", () => {
    fc.assert(
      fc.property(fc.array(kinds, { minLength: 6 }), (registered) => {
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

  it("names the only subsystem of a kind by its kind, and several by kind and name", () => {
    const subsystems = [
      new Recorded("mail", [], { name: "Postman" }),
      new Recorded("database", [], { name: "main" }),
      new Ledger("database"),
    ];

    const names = new SubsystemRegistry(subsystems).members.map(({ name }) => name);

    expect(names).to.deep.equal(["database:main", "database:Ledger", "mail"]);
  });

  it("uses the name of the class for a blank name, and `anonymous` for a class without a name", () => {
    const Nameless = (() => class extends Recorded {})();
    const subsystems = [new Ledger("cache", [], { name: " " }), new Nameless("cache")];

    const names = new SubsystemRegistry(subsystems).members.map(({ name }) => name);

    expect(names).to.deep.equal(["cache:Ledger", "cache:anonymous"]);
  });

  it("has no diagnostics for subsystems with different names", () => {
    expect(
      new SubsystemRegistry([new Ledger("database"), new Recorded("database"), new Recorded("mail")]).check(),
    ).to.deep.equal([]);
    expect(new SubsystemRegistry().check()).to.deep.equal([]);
  });

  it("reports each repeated name once", () => {
    const registry = new SubsystemRegistry([new Ledger("database"), new Ledger("database"), new Ledger("database")]);

    const diagnostics = registry.check();

    expect(diagnostics.map(({ code }) => code)).to.deep.equal(["E_SUBSYSTEM_NAME"]);
    expect(diagnostics[0]?.what).to.equal("more than one subsystem has the name database:Ledger");
  });

  it("reports an unknown kind", () => {
    class Cloud extends Subsystem {
      // Untyped code can pass it.
      readonly kind = "cloud" as unknown as SubsystemKind;
      start() {}
      stop() {}
    }

    const diagnostics = new SubsystemRegistry([new Cloud()]).check();

    expect(diagnostics).to.have.length(1);
    expect(diagnostics[0]).to.include({ code: "E_SUBSYSTEM_KIND", where: "Cloud" });
  });
});
