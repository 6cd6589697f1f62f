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
  what: "nothing injects Postgres, so its test override has no effect",
  where: "the test override of Postgres",
  fix: "bind the double to the token that is injected, or remove it",
};

function diagnosticsOf(input: InspectionOptions): readonly Diagnostic[] {
  return inspect({ root: Root, ...input }).diagnostics;
}

/** The diagnostics of the build; empty when it succeeds. */
function buildDiagnosticsOf(input: InspectionOptions): readonly Diagnostic[] {
  try {
    inspect({ root: Root, ...input }).build();
    return [];
  } catch (error) {
    if (error instanceof StartupError) return error.diagnostics;
    throw error;
  }
}

describe("test overrides", () => {
  it("replace the injected values of constructors", () => {
    expect(buildDiagnosticsOf({ overrides: [provide(Clock).useValue({ now: () => 7 })] })).to.deep.equal([]);
  });

  it("replace a controller", () => {
    expect(buildDiagnosticsOf({ overrides: [provide(Reader).useValue(new Reader(new FixedClock()))] })).to.deep.equal(
      [],
    );
  });

  it("are refused where nothing injects the token, provided or not", () => {
    expect(buildDiagnosticsOf({ overrides: [provide(Postgres).useClass(Postgres)] })).to.deep.equal([UNUSED]);
    expect(buildDiagnosticsOf({ overrides: [provide(Database).useClass(Postgres)] })).to.have.lengthOf(1);
  });

  it("are refused where they are not bindings", () => {
    const diagnostics = diagnosticsOf({ overrides: [undefined as unknown as Binding] });

    expect(diagnostics.map(({ code, where }) => `${code} ${where}`)).to.deep.equal([
      "E_PROVIDER_INVALID test override 1 of the application",
    ]);
  });

  it("are the only bindings that must be used", () => {
    expect(buildDiagnosticsOf({ bindings: [provide(Database).useClass(Postgres)] })).to.deep.equal([]);
  });

  it("may replace a class that the framework collects", () => {
    const isCollected = (candidate: object) => candidate === Database || candidate === Postgres;
    @Module({ providers: [provide(Pool).useClass(Postgres)] })
    class Tokens {}

    expect(buildDiagnosticsOf({ overrides: [provide(Postgres).useClass(Postgres)], isCollected })).to.deep.equal([]);
    expect(
      buildDiagnosticsOf({ root: Tokens, overrides: [provide(Pool).useValue(new Database())], isCollected }),
    ).to.deep.equal([]);
  });

  it("may replace a default and a token that the framework requires", () => {
    const overrides = [provide(Postgres).useClass(Postgres)];

    expect(buildDiagnosticsOf({ overrides, defaults: [provide(Postgres).useClass(Postgres)] })).to.deep.equal([]);
    expect(
      buildDiagnosticsOf({ overrides, requiredTokens: [{ token: Postgres, requiredBy: ".metrics()" }] }),
    ).to.deep.equal([]);
  });

  it("may be resolved by a factory", () => {
    const bindings = [provide(Pool).useFactory((resolve) => resolve(Postgres))];

    expect(buildDiagnosticsOf({ bindings, overrides: [provide(Postgres).useClass(Postgres)] })).to.deep.equal([]);
  });

  it("are refused after the build: before it, a factory or inject may still resolve them", () => {
    const bindings = [provide(Pool).useFactory(() => new Database())];
    const input = { bindings, overrides: [provide(Postgres).useClass(Postgres)] };

    expect(diagnosticsOf(input)).to.deep.equal([]);
    expect(buildDiagnosticsOf(input)).to.deep.equal([UNUSED]);
  });
});
