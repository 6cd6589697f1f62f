import { expect } from "chai";
import { type Diagnostic, StartupError } from "../../lib/errors/diagnostic.js";
import { inspect } from "../../lib/di/graph.js";
import { Injectable } from "../../lib/di/injectable.js";
import type { InspectionOptions } from "../../lib/di/inspection.js";
import { Module } from "../../lib/di/module.js";
import { provide, type Binding } from "../../lib/di/provide.js";
import { token } from "../../lib/di/token.js";

abstract class Clock {
  abstract now(): number;
}
class FixedClock extends Clock {
  override now(): number {
    return 0;
  }
}
class Database {}
class Postgres extends Database {}
const Pool = token<Database>("pool");

@Injectable()
class Reader {
  constructor(readonly clock: Clock) {}
}

@Module({ controllers: [Reader], providers: [provide(Clock).useClass(FixedClock), Postgres] })
class Root {}

const UNUSED: Diagnostic = {
  code: "E_DOUBLE_UNUSED",
  what: "nothing injects Postgres, so its double would do nothing",
  where: "the double of Postgres",
  fix: "bind the double to the token that is injected, or leave it out",
};

function findingsOf(input: InspectionOptions): readonly Diagnostic[] {
  return inspect({ root: Root, ...input }).diagnostics;
}

/** What the build itself finds, or nothing. */
function buildFindingsOf(input: InspectionOptions): readonly Diagnostic[] {
  try {
    inspect({ root: Root, ...input }).build();
    return [];
  } catch (error) {
    if (error instanceof StartupError) return error.diagnostics;
    throw error;
  }
}

describe("doubles", () => {
  it("stand in for what a constructor injects", () => {
    expect(findingsOf({ overrides: [provide(Clock).useValue({ now: () => 7 })] })).to.deep.equal([]);
  });

  it("stand in for a controller", () => {
    expect(findingsOf({ overrides: [provide(Reader).useValue(new Reader(new FixedClock()))] })).to.deep.equal([]);
  });

  it("are refused where nothing injects the token, provided or not", () => {
    expect(findingsOf({ overrides: [provide(Postgres).useClass(Postgres)] })).to.deep.equal([UNUSED]);
    expect(findingsOf({ overrides: [provide(Database).useClass(Postgres)] })).to.have.lengthOf(1);
  });

  it("are refused where they are no bindings", () => {
    const findings = findingsOf({ overrides: [undefined as unknown as Binding] });

    expect(findings.map(({ code, where }) => `${code} ${where}`)).to.deep.equal([
      "E_PROVIDER_INVALID double 1 of the application",
    ]);
  });

  it("are not asked of ordinary application-wide bindings", () => {
    expect(findingsOf({ bindings: [provide(Database).useClass(Postgres)] })).to.deep.equal([]);
  });

  it("may replace what the framework collects by itself", () => {
    const isCollected = (candidate: object) => candidate === Database || candidate === Postgres;
    @Module({ providers: [provide(Pool).useClass(Postgres)] })
    class Tokens {}

    expect(findingsOf({ overrides: [provide(Postgres).useClass(Postgres)], isCollected })).to.deep.equal([]);
    expect(
      findingsOf({ root: Tokens, overrides: [provide(Pool).useValue(new Database())], isCollected }),
    ).to.deep.equal([]);
  });

  it("may replace defaults and what the framework asks for", () => {
    const overrides = [provide(Postgres).useClass(Postgres)];

    expect(findingsOf({ overrides, defaults: [provide(Postgres).useClass(Postgres)] })).to.deep.equal([]);
    expect(findingsOf({ overrides, requiredTokens: [{ token: Postgres, requiredBy: ".metrics()" }] })).to.deep.equal(
      [],
    );
  });

  it("may be asked for by a factory, which is seen when it runs", () => {
    const bindings = [provide(Pool).useFactory((resolve) => resolve(Postgres))];

    expect(buildFindingsOf({ bindings, overrides: [provide(Postgres).useClass(Postgres)] })).to.deep.equal([]);
  });

  it("are refused after the build when no factory asked for them", () => {
    const bindings = [provide(Pool).useFactory(() => new Database())];
    const input = { bindings, overrides: [provide(Postgres).useClass(Postgres)] };

    expect(findingsOf(input)).to.deep.equal([]);
    expect(buildFindingsOf(input)).to.deep.equal([UNUSED]);
  });
});
