/** Three programs whose fields are undefined, and what each compiler setting and tsc say of them. The guide warns of them. */
import { expect } from "chai";
import { MistakeRuns } from "../support/mistake-runs.js";
import type { Mistake } from "./mistakes/mistake.js";

const PROGRAM = `
import { Application, inject, Module } from "@stagecraft/framework";
class Store { readonly table = "links"; }
class Parameter {
  readonly table = this.store?.table;
  constructor(private readonly store = inject(Store)) {}
}
class Field {
  private readonly store = inject(Store);
  readonly table = this.store.table;
}
class Base { readonly store = inject(Store); }
class Redeclared extends Base { override readonly store!: Store; }
class Declared extends Base { declare readonly store: Store; }
class Calling {
  readonly table: string | undefined;
  constructor() { this.table = this.find(); }
  find(): string | undefined { return "base"; }
}
class Overriding extends Calling {
  private readonly store = inject(Store);
  override find() { return this.store?.table; }
}
@Module({ providers: [Store, Parameter, Field, Redeclared, Declared, Overriding] }) class Shop {}
const application = Application.create(Shop).build();
const { store: redeclared } = application.resolve(Redeclared);
const { store: declared } = application.resolve(Declared);
console.log("parameter property:", application.resolve(Parameter).table);
console.log("field:", application.resolve(Field).table);
console.log("declared again:", redeclared?.table);
console.log("declared with declare:", declared.table);
console.log("called by the base:", application.resolve(Overriding).table);
`;

const BEFORE_ES2022 = `
parameter property: links
field: links
declared again: links
declared with declare: links
called by the base: undefined
`;

const SINCE_ES2022 = `
parameter property: undefined
field: links
declared again: undefined
declared with declare: links
called by the base: undefined
`;

function program(title: string, options: Partial<Mistake>): Mistake {
  const files = { "package.json": `{ "type": "module" }`, "main.ts": PROGRAM, ...options.files };
  return { title, says: ["", "", ""], ...options, files };
}

function settingsOf(target: string): Mistake["files"] {
  return { "tsconfig.json": JSON.stringify({ compilerOptions: { experimentalDecorators: true, target } }) };
}

const ROWS: readonly (readonly [expected: string, program: Mistake])[] = [
  [BEFORE_ES2022, program("tsx with target ES2021", { by: "tsx", files: settingsOf("ES2021") })],
  [SINCE_ES2022, program("tsx with target ES2022", { by: "tsx", files: settingsOf("ES2022") })],
  [SINCE_ES2022, program("tsx without settings", { by: "tsx" })],
  [BEFORE_ES2022, program("tsc without standard fields", { settings: { useDefineForClassFields: false } })],
  [SINCE_ES2022, program("tsc with the settings of the guide", {})],
];

const CHECKED = program("the check of tsc", { by: "tsc" });

describe("a field of a class that injects", function () {
  this.timeout(120_000);
  let runs: MistakeRuns;

  before(async () => {
    runs = await MistakeRuns.prepare([...ROWS.map(([, each]) => each), CHECKED]);
  });

  after(() => runs[Symbol.dispose]());

  for (const [expected, each] of ROWS) {
    it(`has its value or is undefined as the guide says: ${each.title}`, async () => {
      const { output } = await runs.run(each);

      expect(`\n${output}`).to.equal(expected);
    });
  }

  it("is reported by tsc where it reads a parameter property and where it is declared again", async () => {
    const { output } = await runs.run(CHECKED);

    expect(output.match(/TS\d+/g)).to.deep.equal(["TS2729", "TS2612"]);
  });
});
