import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Application, Module, provide, Subsystem } from "@stagecraft/framework";
import { expect } from "chai";
import { createListenError } from "../../lib/server/listener.js";
import { Layer, type Run } from "../../lib/http/middleware.js";
import { freePort } from "../support/free-port.js";
import { listening } from "../support/listening.js";
import { rejectionOf } from "../support/rejection-of.js";
import { withoutPrivileges } from "../support/without-privileges.js";

class Database extends Subsystem {
  readonly kind = "database";
  starts = 0;
  stops = 0;

  start(): void {
    this.starts += 1;
  }

  stop(): void {
    this.stops += 1;
  }

  override beginWork(): void {}
}

class Fragile extends Layer {
  override wrap(): Run {
    throw new Error("broken");
  }
}

/** Fails at this step of the start. */
class FragileDatabase extends Database {
  constructor(private readonly step: "start" | "beginWork") {
    super();
  }

  override start(): void {
    if (this.step === "start") throw new Error("broken");
    super.start();
  }

  override beginWork(): never {
    throw new Error("broken");
  }
}

function isReachable(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** The error of `run()`, with only these variables set. */
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

describe("run(), if it cannot listen", () => {
  const database = new Database();

  @Module({ providers: [provide(Database).useValue(database)] })
  class Root {}

  const rows: readonly (readonly [string, (folder: string, port: number) => Promise<Error>, RegExp])[] = [
    [
      "an address in use",
      (_folder, port) => refusal(Application.create(Root).port(port).build()),
      /^cannot listen on 127\.0\.0\.1:\d+: the address is in use; stop the other process or choose another port$/,
    ],
    [
      "an address that the machine does not have",
      () => refusal(Application.create(Root).bind("192.0.2.1").port(0).build()),
      /^cannot listen on 192\.0\.2\.1:0: this machine has no such address; check \.bind\(…\)$/,
    ],
    [
      "a socket that it has no permission to make",
      (folder) =>
        withoutPrivileges(() => refusal(Application.create(Root).build(), { FRAMEWORK_APP_IPC: `${folder}/app` })),
      /^cannot listen on \/.+\/app: permission denied$/,
    ],
    [
      "a directory that it has no permission to make",
      (folder) =>
        withoutPrivileges(() => refusal(Application.create(Root).build(), { FRAMEWORK_APP_IPC: `${folder}/a/app` })),
      /^cannot listen on \/.+\/a\/app: permission denied$/,
    ],
  ];
  for (const [what, run, message] of rows) {
    it(`names ${what} in one line and starts no subsystem`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "stagecraft-"));
      chmodSync(folder, 0o555);
      using taken = await listening(net.createServer());

      const error = await run(folder, taken.port);
      rmSync(folder, { recursive: true });

      expect(error).to.include({ code: "E_LISTEN", stack: `FrameworkError: ${error.message}` });
      expect(error.message).to.match(message);
      expect(database.starts).to.equal(0);
      expect(process.listenerCount("SIGTERM")).to.equal(0);
    });
  }

  it("explains why it may not listen on a port", () => {
    // Which ports need a privilege depends on the machine, so the spec creates the error.
    const refused = createListenError({ host: "127.0.0.1", port: 80 }, Object.assign(new Error(), { code: "EACCES" }));

    expect(refused.message).to.equal(
      "cannot listen on 127.0.0.1:80: permission denied; ports below 1024 need a privilege",
    );
  });
});

describe("a start that fails", () => {
  it("before it listens leaves nothing behind", async () => {
    const database = new Database();
    const builder = Application.create().provide(provide(Database).useValue(database)).layer(new Fragile());
    const port = await freePort();

    const error = await refusal(builder.port(port).build());

    expect([error.message, database.starts, await isReachable(port)]).to.deep.equal(["broken", 0, false]);
    expect(process.listenerCount("SIGTERM")).to.equal(0);
  });

  it("before it serves leaves the listener of the caller alone", async () => {
    using own = await listening(net.createServer());

    const error = await rejectionOf(Application.create().layer(new Fragile()).build().serve(own.server));

    expect([error.message, own.server.listenerCount("connection")]).to.deep.equal(["broken", 0]);
  });

  const rows = [
    ["before any subsystem", "start", 0],
    ["after all subsystems", "beginWork", 1],
  ] as const;
  for (const [when, step, starts] of rows) {
    it(`closes the listener and stops the started subsystems, ${when}`, async () => {
      const database = new FragileDatabase(step);
      const builder = Application.create().provide(provide(FragileDatabase).useValue(database));
      const port = await freePort();

      const error = await refusal(builder.port(port).build());

      expect(error.cause).to.have.property("message", "broken");
      expect([database.starts, database.stops]).to.deep.equal([starts, starts]);
      expect(await isReachable(port)).to.equal(false);
      expect(process.listenerCount("SIGTERM")).to.equal(0);
    });
  }

  it("closes the listener of the caller once it serves", async () => {
    const listener = net.createServer().listen(0, "127.0.0.1");
    await once(listener, "listening");
    const application = Application.create().attach(() => Promise.reject(new Error("broken")));

    const error = await rejectionOf(application.build().serve(listener));

    expect(error.message).to.equal("broken");
    expect(listener.listening).to.equal(false);
  });
});
