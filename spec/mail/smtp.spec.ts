/** The mailer over a mail server, with servers that refuse, close, hang, stop and lie. */

import { expect } from "chai";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { Mail, MailRefusedError, type MailResult } from "../../lib/entries/mail.js";
import { mailerFromEnv, SmtpMailer, type SmtpMailerOptions } from "../../lib/entries/mail-smtp.js";
import { inWorkScope } from "../../lib/lifecycle/work-scope.js";
import { FakeClock } from "../../lib/testing/fake-clock.js";
import { obeysMailer } from "../../lib/testing/contracts/obeys-mailer.js";
import { Child } from "../support/child.js";
import { errorOf } from "../support/error-of.js";
import { eventsOf } from "../support/events-of.js";
import { freePort } from "../support/free-port.js";
import { MailServer, type MailServerOptions } from "../support/mail-server.js";
import { rejectionOf } from "../support/rejection-of.js";
import { until } from "../support/until.js";

const TO = ["ada@example.org", "bob@example.org", "eve@example.org"];
const PASSWORD = "canary4711password";

class Note extends Mail<{ text?: string; file?: Uint8Array }> {
  subject() {
    return "A note";
  }

  text() {
    return this.data.text ?? "A text";
  }

  override attachments() {
    return this.data.file === undefined ? [] : [{ name: "file", content: this.data.file }];
  }
}

/** The time of these mailers passes faster than a busy machine responds, so no limit may come first. */
const PATIENT = { timeoutMs: 2_000_000_000, connectTimeoutMs: 2_000_000_000 };

const note = () => new Note({}).to(TO);

interface Running extends AsyncDisposable {
  readonly server: MailServer;
  readonly mailer: SmtpMailer;
}

/** A server, and a mailer for it. */
async function running(server: MailServerOptions = {}, options: Partial<SmtpMailerOptions> = {}): Promise<Running> {
  const started = await MailServer.start(server);
  const mailer = mailerOn(started.port, { security: server.security ?? "plain", ...options });
  return {
    server: started,
    mailer,
    async [Symbol.asyncDispose]() {
      await mailer.stop();
      await started[Symbol.asyncDispose]();
    },
  };
}

function mailerOn(port: number, options: Partial<SmtpMailerOptions> = {}): SmtpMailer {
  const tls = { ca: MailServer.certificate, servername: "spec" };
  return new SmtpMailer({ host: "127.0.0.1", port, security: "plain", tls, from: "shop@example.org", ...options });
}

/** A server that does what `answer` does with each connection. */
async function rawServer(answer: (socket: Socket) => void): Promise<{ readonly port: number } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    answer(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

const silent = () => rawServer(() => {});
const greeting = () => rawServer((socket) => void socket.write("220 spec\r\n"));

/** Lets the time of the mailer pass until the promise settles. */
async function passing<T>(clock: FakeClock, stepMs: number, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settle = (): void => void (isSettled = true);
  promise.then(settle, settle);
  await until(async () => {
    if (!isSettled) await clock.advanceAsync(stepMs);
    return isSettled;
  });
  return promise;
}

const addressesOf = ({ accepted, rejected, unknown }: MailResult) => ({
  accepted,
  rejected: rejected.map(({ address, status }) => `${address} ${status}`),
  unknown,
});

describe("the mailer over a mail server", function () {
  this.timeout(60_000);
  for (const security of ["plain", "starttls", "tls"] as const)
    it(`obeys the contract of a mailer with security "${security}"`, async () => {
      await using all = await running({ security });
      const { server, mailer } = all;
      await mailer.start();

      await obeysMailer(mailer, { arrived: () => server.texts });

      expect(server.mails[0]).to.include({ from: "sender@example.org" });
    });

  it("logs in with user and password", async () => {
    for (const security of ["starttls", "tls"] as const) {
      await using all = await running({ security, password: PASSWORD }, { user: "shop", password: PASSWORD });
      await all.mailer.send(note());
      expect(all.server.mails[0]?.recipients).to.deep.equal(TO);
    }
  });

  it("sends the mails over few connections", async () => {
    await using all = await running({}, { maxConnections: 3, maxMailsPerConnection: 10 });

    await Promise.all(Array.from({ length: 40 }, () => all.mailer.send(note())));

    expect(all.server.mails).to.have.length(40);
    expect(all.server.connections).to.be.within(4, 7);
    for (const { connection } of all.server.mails)
      expect(all.server.mails.filter((mail) => mail.connection === connection).length).to.be.most(10);
  });

  it("closes an unused connection", async () => {
    const clock = new FakeClock();
    await using all = await running({}, { clock, idleMs: 5000 });
    await all.mailer.send(note());
    expect(all.server.openConnections).to.equal(1);

    clock.advance(5000);

    await until(() => all.server.openConnections === 0);
  });
});

describe("recipients of a mail over SMTP", () => {
  it("that the server refuses for good are rejected, and the others get the mail once", async () => {
    await using all = await running({ reply: (address) => (address.startsWith("bob") ? 550 : undefined) });

    const result = await all.mailer.send(note());

    expect(addressesOf(result)).to.deep.equal({
      accepted: ["ada@example.org", "eve@example.org"],
      rejected: ["bob@example.org 550"],
      unknown: [],
    });
    expect(result.rejected[0]).to.have.property("isTemporary", false);
    expect(all.server.mails.map(({ recipients }) => recipients)).to.deep.equal([
      ["ada@example.org", "eve@example.org"],
    ]);
  });

  it("that the server defers are tried again alone, with the same Message-ID", async () => {
    const clock = new FakeClock();
    let tries = 0;
    const reply = (address: string) => (address.startsWith("bob") && ++tries < 3 ? 450 : undefined);
    await using all = await running({ reply }, { clock, ...PATIENT });

    const result = await passing(clock, 100, all.mailer.send(note()));

    expect(addressesOf(result)).to.deep.equal({
      accepted: ["ada@example.org", "eve@example.org", "bob@example.org"],
      rejected: [],
      unknown: [],
    });
    expect(all.server.mails.map(({ recipients }) => recipients)).to.deep.equal([
      ["ada@example.org", "eve@example.org"],
      ["bob@example.org"],
    ]);
    expect(new Set(all.server.texts.map((text) => /^Message-ID: .*$/m.exec(text)?.[0])).size).to.equal(1);
    expect(all.server.texts[0]).to.equal(all.server.texts[1]);
  });

  it("that stay deferred are rejected for now", async () => {
    const clock = new FakeClock();
    await using all = await running(
      { reply: (address) => (address.startsWith("bob") ? 450 : undefined) },
      { clock, ...PATIENT },
    );

    const { rejected } = await passing(clock, 100, all.mailer.send(note()));

    expect(rejected).to.deep.equal([{ address: "bob@example.org", status: 450, isTemporary: true }]);
  });

  it("that are all refused for good cause an error after one attempt", async () => {
    let tries = 0;
    const reply = () => {
      tries += 1;
      return 550;
    };
    await using all = await running({ reply });

    const failed = await rejectionOf(all.mailer.send(note()));

    expect(failed).to.be.instanceOf(MailRefusedError);
    expect(failed.message).to.equal("the mail server refused all recipients (550)");
    expect((failed as MailRefusedError).result.rejected).to.have.length(3);
    expect(JSON.stringify(failed)).to.not.include("ada@");
    expect(tries).to.equal(3);
  });

  it("that are all deferred cause an error that names the deferral", async () => {
    const clock = new FakeClock();
    await using all = await running({ reply: () => 451 }, { clock, ...PATIENT });

    const failed = await passing(clock, 100, rejectionOf(all.mailer.send(note())));

    expect(failed).to.include({
      code: "E_MAIL_UNAVAILABLE",
      message: "the mail server accepts no recipient at the moment (451)",
    });
  });

  it("are rejected when the server refuses the content for good, without another attempt", async () => {
    let ends = 0;
    const end = () => {
      ends += 1;
      return 554;
    };
    await using all = await running({ end });

    expect(await rejectionOf(all.mailer.send(note()))).to.be.instanceOf(MailRefusedError);
    expect(ends).to.equal(1);
  });

  it("are rejected when the server says that the mail is too large", async () => {
    await using all = await running({ size: 1000 });

    const failed = await rejectionOf(all.mailer.send(new Note({ text: "x".repeat(2000) }).to(TO)));

    expect((failed as MailRefusedError).result.rejected.map(({ status }) => status)).to.deep.equal([552, 552, 552]);
  });
});

describe("a connection to a mail server that ends", function () {
  this.timeout(60_000);
  it("after the content leaves the recipients unknown, and the mail is not sent again", async () => {
    let ends = 0;
    const end = () => {
      ends += 1;
      return "close" as const;
    };
    await using all = await running({ end, reply: (address) => (address.startsWith("bob") ? 550 : undefined) });

    const result = await all.mailer.send(note());

    expect(addressesOf(result)).to.deep.equal({
      accepted: [],
      rejected: ["bob@example.org 550"],
      unknown: ["ada@example.org", "eve@example.org"],
    });
    expect(ends).to.equal(1);
  });

  it("in the middle of the content causes another attempt, and the mail arrives once", async () => {
    const clock = new FakeClock();
    let drops = 0;
    await using all = await running({ closesOnContent: () => ++drops === 1 }, { clock, ...PATIENT });

    // More than the buffers of a connection hold.
    const file = new Uint8Array(10_000_000);
    const result = await passing(clock, 100, all.mailer.send(new Note({ file }).to(TO)));

    expect(result.accepted).to.deep.equal(TO);
    expect(all.server.mails).to.have.length(1);
  });

  it("while it is unused does not lose the next mail", async () => {
    await using all = await running({}, { attempts: 1 });
    await all.mailer.send(note());

    all.server.drop();
    const result = await all.mailer.send(note());

    expect(result.accepted).to.deep.equal(TO);
    expect(all.server.mails).to.have.length(2);
  });

  it("without a word while it is unused does not lose the next mail", async () => {
    const clock = new FakeClock();
    await using inner = await MailServer.start();
    const sockets: Socket[] = [];
    let isDead = false;
    await using server = await rawServer((socket) => {
      sockets.push(socket);
      const upstream = connect(inner.port, "127.0.0.1");
      upstream.on("error", () => {}).on("data", (data) => socket.write(data));
      // The machine behind the first connection is gone.
      socket.on("data", (data) => (isDead && socket === sockets[0] ? undefined : upstream.write(data)));
      socket.on("close", () => upstream.destroy());
    });
    const mailer = mailerOn(server.port, { clock, ...PATIENT, attempts: 1 });
    await mailer.send(note());

    isDead = true;
    clock.advance(2000);
    const result = await passing(clock, 100, mailer.send(note()));

    expect(result.accepted).to.deep.equal(TO);
    expect(sockets).to.have.length(2);
    await mailer.stop();
  });

  it("after the reply 421 of the server does not lose the mail", async () => {
    let isClosing = true;
    await using shut = await rawServer((socket) => {
      socket.write(isClosing ? "421 closing\r\n" : "220 spec\r\n");
    });
    const clock = new FakeClock();
    const mailer = mailerOn(shut.port, { clock, ...PATIENT });

    const failed = await passing(clock, 500, rejectionOf(mailer.send(note())));

    isClosing = false;
    expect(failed).to.have.property("code", "E_MAIL_UNAVAILABLE");
    expect(failed.message).to.include("(421)");
  });
});

describe("a mail server that hangs", function () {
  this.timeout(60_000);
  it("before or after its greeting costs a mail no more than its time", async () => {
    for (const start of [silent, greeting]) {
      await using server = await start();
      const clock = new FakeClock();
      const mailer = mailerOn(server.port, { clock, connectTimeoutMs: 60_000 });

      const failed = await passing(clock, 1000, rejectionOf(mailer.send(note())));

      expect(failed).to.include({ code: "E_MAIL_TIMEOUT", message: "the mail was not sent in 30000 ms" });
      expect(clock.monotonic()).to.be.within(30_000, 32_000);
      await mailer.stop();
      expect(clock.pending).to.equal(0);
    }
  });

  it("is closed after the time for connections, and tried again", async () => {
    await using server = await silent();
    const clock = new FakeClock();
    const mailer = mailerOn(server.port, { clock, attempts: 2, connectTimeoutMs: 5000 });

    const failed = await passing(clock, 500, rejectionOf(mailer.send(note())));

    expect(failed.message).to.equal(`the mail server 127.0.0.1:${server.port} does not respond`);
    expect(clock.monotonic()).to.be.within(10_000, 12_000);
  });

  it("after the content leaves the recipients unknown", async () => {
    const clock = new FakeClock();
    let isSilent = false;
    const end = () => {
      isSilent = true;
      return "silence" as const;
    };
    await using all = await running({ end }, { clock, timeoutMs: 5000 });

    const sending = all.mailer.send(note());
    await until(() => isSilent);
    const result = await passing(clock, 500, sending);

    expect(result.unknown).to.deep.equal(TO);
  });

  it("is abandoned when the request ends", async () => {
    await using server = await greeting();
    const mailer = mailerOn(server.port);
    const request = new AbortController();
    const failed = inWorkScope({ signal: request.signal }, () => rejectionOf(mailer.send(note())), undefined);
    await new Promise((resolve) => setImmediate(resolve));

    const reason = new Error("the client left");
    request.abort(reason);

    expect(await failed).to.equal(reason);
  });

  it("in an endless greeting is abandoned", async () => {
    await using server = await rawServer((socket) => {
      const fill = (): void => {
        while (socket.writable && socket.write(`220-${"x".repeat(1000)}\r\n`));
      };
      socket.on("drain", fill);
      fill();
    });
    const clock = new FakeClock();

    const failed = await passing(clock, 100, rejectionOf(mailerOn(server.port, { clock, ...PATIENT }).send(note())));

    expect(failed).to.have.property("code", "E_MAIL_UNAVAILABLE");
    expect(failed.message.length).to.be.below(200);
  });

  it("because its process is suspended costs a mail its time, and works again afterwards", async () => {
    await using child = await Child.start("mail-server-program.js");
    await until(() => child.output.includes("listening"));
    const clock = new FakeClock();
    const mailer = mailerOn(child.port, { clock });
    expect((await mailer.send(note())).accepted).to.deep.equal(TO);
    clock.advance(2000);

    child.kill("SIGSTOP");
    const failed = await passing(clock, 500, rejectionOf(mailer.send(note())));
    child.kill("SIGCONT");

    expect(failed).to.have.property("status", 503);
    expect((await mailer.send(note())).accepted).to.deep.equal(TO);
    await mailer.stop();
  });

  it("because its process is killed causes an error, and works again with the next process", async () => {
    const port = await freePort();
    const clock = new FakeClock();
    const mailer = mailerOn(port, { clock, ...PATIENT });
    {
      await using child = await Child.start("mail-server-program.js", {}, { port });
      await until(() => child.output.includes("listening"));
      await mailer.send(note());
      child.kill("SIGKILL");
      await child.exitCode();
      const failed = await passing(clock, 100, rejectionOf(mailer.send(note())));
      expect(failed.message).to.equal(`the mail server 127.0.0.1:${port} refuses connections: check host and port`);
    }
    await using next = await Child.start("mail-server-program.js", {}, { port });
    await until(() => next.output.includes("listening"));

    expect((await mailer.send(note())).accepted).to.deep.equal(TO);
    await mailer.stop();
  });
});

describe("the TLS of a connection to a mail server", () => {
  it("needs a trusted certificate with the name of the server", async () => {
    for (const security of ["tls", "starttls"] as const) {
      for (const tls of [{}, { ca: MailServer.certificate, servername: "other" }]) {
        await using all = await running({ security }, { tls });
        const failed = await rejectionOf(all.mailer.send(note()));
        expect(failed.message).to.match(
          /has a certificate that is not trusted \((DEPTH_ZERO_SELF_SIGNED_CERT|ERR_TLS_CERT_ALTNAME_INVALID)\)/,
        );
        expect(await rejectionOf(all.mailer.start())).to.have.property("code", "E_MAIL_UNAVAILABLE");
        expect(all.server.mails).to.deep.equal([]);
      }
    }
  });

  it("is required even if a server, or an attacker on the way, offers no STARTTLS", async () => {
    const commands: string[] = [];
    await using server = await rawServer((socket) => {
      socket.write("220 spec\r\n");
      socket.on("data", (data) => {
        commands.push(String(data).slice(0, 8));
        socket.write(String(data).startsWith("EHLO") ? "250-spec\r\n250 AUTH PLAIN\r\n" : "502 no\r\n");
      });
    });
    const mailer = mailerOn(server.port, { security: "starttls", user: "shop", password: PASSWORD });

    const failed = await rejectionOf(mailer.send(note()));

    expect(failed.message).to.equal(
      `the mail server 127.0.0.1:${server.port} does not offer STARTTLS: check port and security`,
    );
    expect(commands.filter((command) => !/^(EHLO|HELO|STARTTLS|QUIT)/.test(command))).to.deep.equal([]);
  });

  it("is required for a login", () => {
    const make = () => mailerOn(25, { user: "shop", password: PASSWORD });

    expect(errorOf(make)).to.have.property("code", "E_MAIL_OPTION");
    expect(errorOf(make).message).to.not.include(PASSWORD);
  });
});

describe("the password of a mail server", () => {
  it("appears in no error and no event, even if the server repeats it", async () => {
    const wrong = `${PASSWORD}wrong`;
    await using all = await running({ security: "tls", password: PASSWORD }, { user: "shop", password: wrong });
    const failures: Error[] = [];

    const events = await eventsOf(async () => {
      failures.push(await rejectionOf(all.mailer.send(note())), await rejectionOf(all.mailer.start()));
    });

    const { port } = all.server;
    expect(failures[0]?.message).to.equal(
      `the mail server 127.0.0.1:${port} refuses the login (535): check user and password`,
    );
    const shown = failures.map((error) => `${String(error.stack)} ${JSON.stringify(error)} ${String(error.cause)}`);
    for (const text of [...shown, ...events]) expect(text).to.not.include(PASSWORD).and.not.include("ada@");
    expect(all.server.connections).to.equal(2);
  });
});

describe("the start of the mailer", () => {
  it("continues with a warning if the server is unreachable", async () => {
    const port = await freePort();

    const events = await eventsOf(() => mailerOn(port).start());

    expect(events).to.deep.equal([
      `WARN framework::mail::smtp: mail server unreachable at the start reason=the mail server 127.0.0.1:${port} refuses connections: check host and port`,
    ]);
  });

  it("ends after the connection timeout", async () => {
    await using server = await rawServer(() => {});
    const clock = new FakeClock();

    await passing(clock, 500, mailerOn(server.port, { clock }).start());

    expect(clock.monotonic()).to.be.within(10_000, 11_000);
  });

  it("is not needed for a probe, which tells whether the server responds", async () => {
    const port = await freePort();
    const mailer = mailerOn(port);
    const { signal } = new AbortController();
    expect(await rejectionOf(mailer.probe(signal))).to.have.property("code", "E_MAIL_UNAVAILABLE");

    await using server = await MailServer.start({ port });
    await mailer.probe(signal);
    await mailer.probe(signal);

    expect(server.connections).to.equal(1);
    await mailer.stop();
  });
});

describe("the stop of the mailer", () => {
  it("lets a mail that is being sent finish, and refuses new mails", async () => {
    await using all = await running();
    const sending = all.mailer.send(note());
    await until(() => all.server.connections === 1);

    await all.mailer.stop();

    expect((await sending).accepted).to.deep.equal(TO);
    expect((await rejectionOf(all.mailer.send(note()))).message).to.equal("the mailer has stopped");
    await until(() => all.server.openConnections === 0);
  });
});

describe("a mail server that does not reply to QUIT", () => {
  it("is disconnected after a second", async () => {
    const closed: string[] = [];
    let commands = "";
    await using server = await rawServer((socket) => {
      socket.write("220 spec\r\n");
      socket.on("data", (data) => {
        commands += String(data);
        if (!String(data).startsWith("QUIT")) socket.write("250 ok\r\n");
      });
      socket.on("close", () => closed.push("closed"));
    });
    const clock = new FakeClock();
    const mailer = mailerOn(server.port, { clock });
    await mailer.start();
    await mailer.stop();
    await until(() => commands.includes("QUIT"));
    expect(closed).to.deep.equal([]);
    clock.advance(1000);
    await until(() => closed.length > 0);

    expect(clock.pending).to.equal(0);
  });
});

describe("plaintext after the reply to STARTTLS", () => {
  it("is not treated as a reply of the server", async () => {
    const sent: string[] = [];
    await using inner = await MailServer.start({ security: "starttls", password: PASSWORD });
    // A machine on the way adds replies before the encryption begins.
    await using server = await rawServer((socket) => {
      const upstream = connect(inner.port, "127.0.0.1");
      let isPlain = true;
      upstream.on("error", () => {});
      upstream.on("data", (data) => {
        if (isPlain && sent.at(-1) === "STARTTLS") {
          isPlain = false;
          socket.write(`${String(data)}250-injected\r\n250 AUTH LOGIN\r\n334 VXNlcm5hbWU6\r\n`);
        } else socket.write(data);
      });
      socket.on("data", (data) => {
        sent.push(String(data).trim());
        upstream.write(data);
      });
      socket.on("close", () => upstream.destroy());
    });
    const mailer = mailerOn(server.port, { security: "starttls", user: "shop", password: PASSWORD });
    const { accepted } = await mailer.send(note());
    await mailer.stop();

    expect(accepted).to.deep.equal(TO);
    expect(sent[1]).to.equal("STARTTLS");
    expect(inner.mails).to.have.lengthOf(1);
  });
});

describe("the options of a mail server", () => {
  const wrong: readonly Partial<SmtpMailerOptions>[] = [
    { host: "" },
    { host: "a b" },
    { host: "a\r\nb" },
    { port: 0 },
    { port: 65_536 },
    { security: "ssl" as never },
    { user: "shop" },
    { password: "a", security: "tls" },
    { user: "shop\r\n", password: "a", security: "tls" },
    { maxConnections: 0 },
    { attempts: 1.5 },
    { clientName: "a b" },
  ];
  for (const options of wrong)
    it(`are refused if they are ${JSON.stringify(options)}`, () => {
      expect(errorOf(() => mailerOn(25, options))).to.have.property("code", "E_MAIL_OPTION");
    });

  it("have known names, and cannot disable the check of certificates", () => {
    expect(errorOf(() => mailerOn(25, { pool: true } as never))).to.have.property("code", "E_OPTION");
    expect(errorOf(() => mailerOn(25, { tls: { rejectUnauthorized: false } as never }))).to.have.property(
      "code",
      "E_OPTION",
    );
  });
});

const made = (env: Record<string, string>, build: "debug" | "release" = "release") =>
  mailerFromEnv({ from: "shop@example.org" }, env, build).constructor.name;

describe("the mailer from the environment", () => {
  it("uses SMTP with a URL, otherwise files or memory, and throws in a release build without a URL", () => {
    expect(made({ SMTP_URL: "smtps://user:p%40ss@smtp.example.org" })).to.equal("SmtpMailer");
    expect(made({ SMTP_URL: "smtp://smtp.example.org:2525", MAIL_FOLDER: "a" })).to.equal("SmtpMailer");
    expect(made({ SMTP_URL: "smtp+plain://[::1]:25" })).to.equal("SmtpMailer");
    expect(made({ MAIL_FOLDER: "tmp/mail" })).to.equal("FileMailer");
    expect(made({}, "debug")).to.equal("MemoryMailer");
    expect(errorOf(() => made({}))).to.have.property("code", "E_MAIL_UNCONFIGURED");
  });

  it("reveals no part of a wrong URL", () => {
    for (const url of [
      `http://u:${PASSWORD}@h`,
      `smtps://u:${PASSWORD}%zz@h`,
      `smtps://u:${PASSWORD}@h/path`,
      PASSWORD,
      `smtps://u:${PASSWORD}@`,
    ]) {
      const failed = errorOf(() => made({ SMTP_URL: url }));
      expect(failed).to.have.property("code", "E_MAIL_URL");
      expect(failed.message).to.not.include(PASSWORD);
    }
  });
});
