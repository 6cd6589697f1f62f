/**
 * Each optional package beside this file loads through the entry point that needs it. Where the package is taken away, the entry point
 * names it and says how to install it. With `loads` only the first half.
 * Usage: node absent.mjs [loads]
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, renameSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const name = "@stagecraft/framework";
const telemetry = () => import(`${name}/observe/otel`);
const bucket = () => import(`${name}/storage/s3`);

const USES = {
  "@aws-sdk/client-s3": bucket,
  "@aws-sdk/lib-storage": bucket,
  "@aws-sdk/s3-request-presigner": bucket,
  "@fluent/bundle": async () => {
    const { Languages } = await import(`${name}/i18n`);
    return new Languages({ catalogs: { en: "hello = Hello" }, default: "en" });
  },
  "@node-rs/argon2": async () => {
    const { Passwords } = await import(`${name}/auth`);
    return new Passwords({ algorithm: "argon2id" });
  },
  "@opentelemetry/api": telemetry,
  "@opentelemetry/exporter-trace-otlp-grpc": telemetry,
  "@photostructure/sqlite": () => import(`${name}/db/sqlite`),
  "@simplewebauthn/server": async () => {
    const { passkeys } = await import(`${name}/auth/passkeys`);
    return passkeys({ name: "Peers" });
  },
  bullmq: async () => {
    const { BullJobs } = await import(`${name}/jobs/bullmq`);
    return new BullJobs({ url: "redis://127.0.0.1:6379" });
  },
  busboy: () => import(`${name}/uploads`),
  croner: async () => {
    const { schedule } = await import(`${name}/jobs`);
    return schedule("peers.sweep", "0 3 * * *", { timeZone: "UTC" });
  },
  ioredis: () => import(`${name}/cache/redis`),
  jose: async () => {
    const { issuer, tokenVerification } = await import(`${name}/auth/jwt`);
    return tokenVerification(issuer("peers"), { issuer: "https://id.example", audience: "peers" });
  },
  kysely: () => import(`${name}/db`),
  mysql2: () => import(`${name}/db/mysql`),
  nodemailer: () => import(`${name}/mail/smtp`),
  "openid-client": async () => {
    const { github, oauth } = await import(`${name}/oauth`);
    const callback = { method: "GET", url: (each) => `/callback/${each}` };
    return oauth({ providers: [github({ clientId: "peers", clientSecret: "peers" })], callback });
  },
  "oxc-transform": async () => {
    const folder = fileURLToPath(new URL(".", import.meta.resolve(`${name}/package.json`)));
    const { transform } = await import(pathToFileURL(join(folder, "dist/lib/cli/application/transform.js")).href);
    return transform({ text: "const one: number = 1;", name: "one.ts" }, {});
  },
  pg: () => import(`${name}/db/postgres`),
  "swagger-ui-dist": async () => {
    const { Application } = await import(name);
    return Application.create()
      .apiDocs({ info: { title: "Peers", version: "1.0.0" } })
      .build();
  },
};
/** Since 22.16 Node has the engine of SQLite, and since 24.7 argon2id. */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const needless = [...(isNode(22, 16) ? ["@photostructure/sqlite"] : []), ...(isNode(24, 7) ? ["@node-rs/argon2"] : [])];

const [, program, mode, peer] = process.argv;
if (mode === "use") await print(USES[peer]);
else all(mode === "loads");

function isNode(wantedMajor, wantedMinor) {
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

function all(onlyLoads) {
  const { peerDependencies } = createRequire(import.meta.url)(`${name}/package.json`);
  assert.deepEqual(Object.keys(peerDependencies).toSorted(), Object.keys(USES).toSorted());
  for (const each of Object.keys(USES)) {
    expectLoaded(each);
    if (!onlyLoads && !needless.includes(each)) expectAsked(each);
  }
}

function expectLoaded(each) {
  const { version } = JSON.parse(readFileSync(`node_modules/${each}/package.json`, "utf8"));
  assert.deepEqual(failureOf(each), {}, `${each} ${version}`);
  console.log(`${each} ${version} loads`);
}

function expectAsked(each) {
  renameSync(`node_modules/${each}`, "node_modules/.away");
  const { code, message = "" } = failureOf(each);
  renameSync("node_modules/.away", `node_modules/${each}`);
  assert.equal(code, "E_PEER_MISSING", `${each}: ${message}`);
  assert.ok(message.includes(each) && message.includes("npm install"), `${each}: ${message}`);
  console.log(message);
}

/** In a process of its own, because a failed import stays failed. */
function failureOf(each) {
  return JSON.parse(execFileSync(process.execPath, [program, "use", each], { encoding: "utf8" }));
}

async function print(use) {
  const failure = await use().then(
    () => ({}),
    // An application reports all its faults in one error.
    ({ code, message, diagnostics = [] }) => ({ code: diagnostics[0]?.code ?? code, message }),
  );
  process.stdout.write(JSON.stringify(failure), () => process.exit());
}
