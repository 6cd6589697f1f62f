/**
 * A project may write declaration files, as a library and each part of a composite build do: the compiler can name every type that an
 * inferred value of the package has. The folder is as pnpm makes it, where only the packages that the project lists are in reach.
 */
import { expect } from "chai";
import { type CompilerOptions, Consumer } from "../support/consumer.js";
import { guidePrograms, recommendedSettings } from "../support/guide-programs.js";
import { partsOfApi, resultsProgram } from "../support/results-program.js";
import { manifest, textOf } from "../support/sources.js";

const STRICT = {
  declaration: true,
  composite: true,
  isolatedModules: true,
  verbatimModuleSyntax: true,
  exactOptionalPropertyTypes: true,
  rootDir: ".",
  outDir: "out",
  skipLibCheck: true,
};

/** A static member of a class that is exported as a type is out of reach of the program. */
const TYPE_ONLY = /error TS(?:1361|1362|2339|2693):/;

function settings(): CompilerOptions {
  const { compilerOptions } = JSON.parse(recommendedSettings()) as { readonly compilerOptions: CompilerOptions };
  return { ...compilerOptions, ...STRICT };
}

/** Entry points whose values are arguments of this one: a program that has such a value imports them too. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  "": ["cache", "observe", "pages", "session", "uploads"],
  // Mails are written with …/mail.
  "/auth": ["crypto", "mail"],
  "/auth/db": ["db"],
  "/auth/passkeys": ["auth"],
  "/auth/jwt": ["auth", "crypto"],
  "/oauth": ["auth"],
  "/idempotency/db": ["db"],
  "/mail/jobs": ["jobs"],
  "/maintenance/db": ["db"],
  "/session/db": ["db"],
  "/testing": ["auth", "oauth"],
  "/testing/contracts": ["auth", "cache", "idempotency", "jobs", "mail", "session", "storage"],
};

/** A project hands the log on as a whole, and names none of these members; ioredis does not export a type of its options. */
const NAMED_BY_NOBODY = /^export const of_(?:JsonLog_on|RedisCacheOptions_client).*\n/gm;

/** Ports that a database fits by its shape, and so by its members that are declared. */
const ON_A_DATABASE = `
import type { Database } from "@stagecraft/framework/db";
import { DatabaseJobs } from "@stagecraft/framework/jobs";
import { obeysDatabase } from "@stagecraft/framework/testing/contracts";

export const store = (db: Database<{ articles: { id: number } }>) => new DatabaseJobs(db, { notify: true });
export const trial = (db: Database<{ articles: { id: number } }>) => obeysDatabase(db);
`;

/** `…/jobs` and the main entry point for `…/jobs/bullmq`. */
function above(entry: string, parts: ReadonlyMap<string, string>): readonly string[] {
  const { name } = manifest();
  const beside = (BESIDE[entry.slice(name.length)] ?? []).map((each) => `${name}/${each}`);
  return [...parts.keys()].filter((each) => entry.startsWith(`${each}/`) || beside.includes(each));
}

describe("declaration files of a project", function () {
  this.timeout(240_000);
  let consumer: Consumer;

  before(() => {
    consumer = Consumer.create();
    consumer.installFromRepository(...Object.keys(manifest().devDependencies));
  });

  after(() => consumer[Symbol.dispose]());

  it("can name the type of each value that an entry point gives", async () => {
    const parts = partsOfApi(textOf("docs/api.txt") ?? "");
    for (const [entry, part] of parts) {
      const program = resultsProgram(entry, part, above(entry, parts));
      consumer.write(`results/${entry}.ts`, program.replaceAll(NAMED_BY_NOBODY, ""));
    }

    const messages: string[] = [];
    for (const entry of parts.keys()) {
      const output = await consumer.compile([`results/${entry}.ts`], { ...settings(), noImplicitAny: false });
      messages.push(...output.split("\n").filter((line) => line !== "" && !TYPE_ONLY.test(line)));
    }

    expect(parts).to.have.property("size").above(20);
    expect(messages.join("\n")).to.equal("");
  });

  it("compile for the programs of the guide", async () => {
    const right = guidePrograms().filter(({ message }) => message === undefined);
    for (const { path, code } of right) consumer.write(`guide/${path}`, code);

    expect(await consumer.compile(["guide"], settings())).to.equal("");
  });

  it("compile for jobs and contracts on a database", async () => {
    consumer.write("database/jobs.ts", ON_A_DATABASE);

    expect(await consumer.compile(["database"], settings())).to.equal("");
  });

  it("compile for a driver of a database", async () => {
    consumer.write("driver/toy-driver.ts", textOf("spec/db/toy-driver.ts") ?? "");

    expect(await consumer.compile(["driver"], settings())).to.equal("");
  });

  it("compile for the samples", async () => {
    consumer.copy("samples");

    expect(
      await consumer.compile(
        ["samples"],
        { ...settings(), lib: ["ES2023", "ESNext.Disposable", "DOM", "DOM.Iterable"] },
        // The program of `npm run dev` is a tool of the repository.
        ["samples/links/pages", "samples/links/dev.ts"],
      ),
    ).to.equal("");
  });
});
