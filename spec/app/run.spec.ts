import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Application, Module, provide, Subsystem } from "@stagecraft/framework";
import { expect } from "chai";
import { rejectionOf } from "../support/rejection-of.js";
import { withoutPrivileges } from "../support/without-privileges.js";

class Database extends Subsystem {
  readonly kind = "database";
  starts = 0;

  start(): void {
    this.starts += 1;
  }

  stop(): void {}
}

/** What `run()` rejects with, once it has, with these variables set. */
async function refusal(application: Application, environment: NodeJS.ProcessEnv = {}): Promise<Error> {
  const names = ["FRAMEWORK_BACKEND_PORT", "PORT", "APP_PORT", "FRAMEWORK_APP_IPC"];
  const before = names.map((name) => [name, process.env[name]] as const);
  for (const name of names) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, environment);
  try {
    return await rejectionOf(application.run());
  } finally {
    for (const name of names) Reflect.deleteProperty(process.env, name);
    for (const [name, value] of before) if (value !== undefined) process.env[name] = value;
  }
}

describe("run(), where it may not listen", () => {
  const database = new Database();

  @Module({ providers: [provide(Database).useValue(database)] })
  class Root {}

  const rows: readonly (readonly [string, (folder: string, port: number) => Promise<Error>, RegExp])[] = [
    [
      "an address that is taken",
      (_folder, port) => refusal(Application.create(Root).port(port).build()),
      /^cannot listen on 127\.0\.0\.1:\d+: the address is in use; stop the other process or choose another port$/,
    ],
    [
      "an address that this machine has not",
      () => refusal(Application.create(Root).bind("192.0.2.1").port(0).build()),
      /^cannot listen on 192\.0\.2\.1:0: this machine has no such address; check \.bind\(…\)$/,
    ],
    [
      "a socket that it may not make",
      (folder) =>
        withoutPrivileges(() => refusal(Application.create(Root).build(), { FRAMEWORK_APP_IPC: `${folder}/app` })),
      /^cannot listen on \/.+\/app: permission denied$/,
    ],
    [
      "a directory that it may not make",
      (folder) =>
        withoutPrivileges(() => refusal(Application.create(Root).build(), { FRAMEWORK_APP_IPC: `${folder}/a/app` })),
      /^cannot listen on \/.+\/a\/app: permission denied$/,
    ],
  ];
  for (const [what, run, message] of rows) {
    it(`names ${what} in one line, and has started nothing`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "stagecraft-"));
      chmodSync(folder, 0o555);
      const taken = net.createServer().listen(0, "127.0.0.1");
      await once(taken, "listening");
      // A listening TCP server has an address of this kind.
      const { port } = taken.address() as net.AddressInfo;

      const error = await run(folder, port);
      taken.close();
      rmSync(folder, { recursive: true });

      expect(error).to.include({ code: "E_LISTEN", stack: `FrameworkError: ${error.message}` });
      expect(error.message).to.match(message);
      expect(database.starts).to.equal(0);
      expect(process.listenerCount("SIGTERM")).to.equal(0);
    });
  }
});
