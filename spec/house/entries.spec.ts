/**
 * Each entry point alone, in a new process: it loads the packages of its row, and its import has no other effect. A new entry point needs a
 * row. The entry points that load no package share one process: while none of them has an effect, each is as good as alone.
 */

import { expect } from "chai";
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Loaded } from "../support/load-alone.js";
import { compiledFrom, manifest, ROOT } from "../support/sources.js";

const run = promisify(execFile);

interface Promised {
  /** The packages that it loads; their dependencies are allowed too. */
  readonly loads: readonly string[];
  /** May add members to `Reflect`, which decorators need. */
  readonly reflect?: true;
  /** The globals that its packages add. */
  readonly globals?: readonly string[];
}

const MAIN = ["koa", "tsyringe", "reflect-metadata"];
const NOTHING: Promised = { loads: [] };

const ENTRIES: Readonly<Record<string, Promised>> = {
  ".": { loads: MAIN, reflect: true },
  "./routes": NOTHING,
  "./observe": NOTHING,
  "./observe/redact": NOTHING,
  "./observe/metrics": NOTHING,
  "./observe/tracing": NOTHING,
  // The exporter brings its SDK.
  "./observe/otel": { loads: ["@opentelemetry/api", "@opentelemetry/exporter-trace-otlp-grpc"] },
  "./openapi": { loads: ["koa", "reflect-metadata", "tsyringe"], reflect: true },
  "./session": NOTHING,
  "./pages": { loads: ["koa"] },
  // It works on a cache that the application has created, and loads no driver.
  "./session/redis": NOTHING,
  // It works on a database that the application has created, and loads no driver.
  "./session/db": { loads: ["kysely"] },
  "./idempotency": { loads: ["koa"] },
  "./idempotency/db": { loads: ["kysely"] },
  // It works on a cache that the application has created, and loads no driver.
  "./idempotency/redis": NOTHING,
  // Its stores work on a database or a cache that the application has created.
  "./maintenance": NOTHING,
  "./maintenance/db": NOTHING,
  // The first argon2id on a Node without it loads @node-rs/argon2.
  "./auth": { loads: ["koa"] },
  "./auth/guards": NOTHING,
  "./auth/db": { loads: ["kysely"] },
  // The first `passkeys()` loads @simplewebauthn/server.
  "./auth/passkeys": { loads: ["koa"] },
  // The first `tokenVerification()` loads jose.
  "./auth/jwt": { loads: ["koa"] },
  // The first `oauth()` loads openid-client.
  "./oauth": { loads: ["koa"] },
  "./cache": NOTHING,
  "./crypto": NOTHING,
  // Schedules load croner when the first one is created.
  "./jobs": NOTHING,
  // The first `new BullJobs` loads bullmq and ioredis.
  "./jobs/bullmq": NOTHING,
  "./cache/redis": { loads: ["ioredis"] },
  "./db": { loads: ["kysely"] },
  // Nothing on a Node that has the engine.
  "./db/mysql": { loads: ["mysql2"] },
  "./db/postgres": { loads: ["pg"] },
  "./db/sqlite": { loads: ["@photostructure/sqlite"] },
  "./storage": NOTHING,
  "./storage/s3": {
    loads: ["@aws-sdk/client-s3", "@aws-sdk/lib-storage", "@aws-sdk/s3-request-presigner"],
    globals: ["awslambda"],
  },
  "./storage/fs": NOTHING,
  "./mail": NOTHING,
  // A controller, which needs the metadata of its constructor.
  "./mail/previews": { loads: ["tsyringe", "reflect-metadata"], reflect: true },
  "./mail/smtp": { loads: ["nodemailer"] },
  "./uploads": { loads: ["busboy"] },
  // The first `new Languages` loads @fluent/bundle.
  "./i18n": { loads: ["koa"] },
  "./mail/jobs": NOTHING,
  // Only the packages of the application that it starts.
  "./testing": { loads: MAIN, reflect: true },
  // The contract of a layer builds an application.
  "./testing/contracts": { loads: MAIN, reflect: true },
};

/** An application that does not import them loads none of their files. */
const SEPARATE_FEATURES =
  /^lib\/(?:db|idempotency|jobs|mail|observe\/otel|stages\/(?:csrf|session\/stores)|storage|testing|uploads)\//;

const entries = Object.keys(manifest().exports).filter((entry) => entry !== "./package.json" && isBuilt(entry));

describe("entry points", () => {
  it("have a row with their packages", () => {
    expect(entries.filter((entry) => ENTRIES[entry] === undefined)).to.deep.equal([]);
  });

  it("have no wildcard, and types beside the code", () => {
    const targets = Object.entries(manifest().exports).filter(([name]) => name !== "./package.json");

    const wrong = targets.filter(
      ([name, target]) =>
        name.includes("*") || typeof target === "string" || target.types !== target.default.replace(/\.js$/, ".d.ts"),
    );

    expect(wrong).to.deep.equal([]);
  });

  it("type-check with the types of Node, without the library of the DOM", async function () {
    this.timeout(240_000);
    const declarations = entries.map((entry) => targetOf(entry)?.types ?? "");
    const options = "--ignoreConfig --noEmit --strict --target es2022 --module nodenext --lib es2023,esnext.disposable";

    const checked = run(
      join(ROOT, "node_modules/.bin/tsc"),
      [...options.split(" "), "--types", "node", "--skipLibCheck", "false", ...declarations],
      { cwd: ROOT },
    );

    // tsc prints errors on standard output, and fails.
    expect(await checked.catch((error: unknown) => error)).to.deep.equal({ stdout: "", stderr: "" });
  });

  for (const entry of entries) {
    describe(entry, () => {
      let loaded: Loaded;
      const { loads, reflect, globals = [] } = ENTRIES[entry] ?? NOTHING;

      before(async function () {
        this.timeout(120_000);
        loaded = await (ENTRIES[entry] === NOTHING ? loadedOfNothing(entry) : loadedAlone(entry));
      });

      it("loads the packages of its row and their dependencies, nothing else", () => {
        expect(loaded.packages.filter((name) => !withDependencies(loads).has(name))).to.deep.equal([]);
      });

      it("changes no global, or only Reflect where its row allows it", () => {
        const added = loaded.globals.filter((name) => !globals.includes(name.replace(/^(?:global|globalThis)\./, "")));
        const others = added.filter((name) => !name.startsWith("Reflect."));

        expect(reflect === true ? others : added).to.deep.equal([]);
      });

      it("adds no listener and opens no handle", () => {
        expect(loaded.listeners).to.deep.equal([]);
        expect(loaded.handles).to.deep.equal([]);
      });

      it("exports something, and no default", () => {
        expect(loaded.exports).to.have.property("length").above(0);
        expect(loaded.exports).to.not.include("default");
      });

      if (entry === ".") {
        it("imports none of Node's modules for TLS and threads, which slow the start", () => {
          const slow = /from "node:(?:tls|https|http2|worker_threads)"/;

          expect(loaded.files.flatMap(compiledFrom)).to.have.property("length").above(100);
          expect(loaded.files.filter((file) => slow.test(readFileSync(join(ROOT, file), "utf8")))).to.deep.equal([]);
        });

        it("loads no feature that has an entry point and is used by its own values alone", () => {
          const separate = loaded.files.flatMap(compiledFrom).filter((source) => SEPARATE_FEATURES.test(source));

          expect(separate).to.deep.equal([]);
        });
      }
    });
  }
});

/** An entry without a built file is skipped here; the check of the packed package finds it. */
function isBuilt(entry: string): boolean {
  const target = targetOf(entry);
  return target !== undefined && existsSync(join(ROOT, target.default));
}

function targetOf(entry: string) {
  const target = manifest().exports[entry];
  return typeof target === "object" ? target : undefined;
}

async function loadedAlone(entry: string): Promise<Loaded> {
  const [loaded] = await load([entry]);
  return loaded ?? expect.fail(`nothing of ${entry}`);
}

let nothing: Promise<readonly Loaded[]> | undefined;

async function loadedOfNothing(entry: string): Promise<Loaded> {
  const together = entries.filter((each) => ENTRIES[each] === NOTHING);
  nothing ??= load(together);
  return (await nothing)[together.indexOf(entry)] ?? expect.fail(`nothing of ${entry}`);
}

/** Loads them in a new process, in this order. Fails when the process does not end by itself. */
async function load(names: readonly string[]): Promise<readonly Loaded[]> {
  const program = join(ROOT, "dist/spec/support/load-alone.js");
  const specifiers = names.map((name) => manifest().name + name.slice(1));
  const { stdout } = await run(process.execPath, [program, ...specifiers], { cwd: ROOT, timeout: 100_000 });
  // load-alone prints this type.
  return JSON.parse(stdout) as readonly Loaded[];
}

/** The packages with all their dependencies, transitive ones too. */
function withDependencies(names: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (name: string): void => {
    const file = join(ROOT, "node_modules", name, "package.json");
    if (found.has(name) || !existsSync(file)) return;
    found.add(name);
    // npm has checked its shape.
    const wanted = JSON.parse(readFileSync(file, "utf8")) as {
      readonly dependencies?: Readonly<Record<string, string>>;
      readonly peerDependenciesMeta?: Readonly<Record<string, unknown>>;
    };
    // Some load an optional peer that is installed, as debug loads supports-color.
    Object.keys({ ...wanted.dependencies, ...wanted.peerDependenciesMeta }).forEach(visit);
  };
  names.forEach(visit);
  return found;
}
