/**
 * A mail server on a free port of 127.0.0.1 (`smtp-server`), with a certificate for the name `spec`. It stores the messages that it accepts. The
 * options make it refuse, close or stay silent.
 */
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { selfSigned } from "./tls-front.js";

export interface ReceivedMail {
  readonly from: string;
  readonly recipients: readonly string[];
  readonly text: string;
  /** Counts the connections of the server. */
  readonly connection: number;
}

export interface MailServerOptions {
  readonly security?: "tls" | "starttls" | "plain";
  readonly password?: string;
  /** The code of the reply to a recipient; 250 without one. Called for each RCPT. */
  readonly reply?: (address: string) => number | undefined;
  /** The code of the reply to the content, or the failure in its place. */
  readonly end?: () => number | "close" | "silence" | undefined;
  /** Closes the connection when the content starts. */
  readonly closesOnContent?: () => boolean;
  readonly size?: number;
  readonly port?: number;
}

const { key, cert } = selfSigned();

export class MailServer implements AsyncDisposable {
  static readonly certificate = cert;

  readonly mails: ReceivedMail[] = [];
  connections = 0;
  private readonly sockets = new Set<Socket>();
  private readonly numbers = new Map<string, number>();

  private constructor(
    private readonly server: SMTPServer,
    private readonly options: MailServerOptions,
  ) {}

  static async start(options: MailServerOptions = {}): Promise<MailServer> {
    const { security = "plain", password, size } = options;
    let running: MailServer | undefined;
    const settings: SMTPServerOptions = {
      secure: security === "tls",
      key,
      cert,
      authOptional: password === undefined,
      disabledCommands: [...(security === "starttls" ? [] : ["STARTTLS"]), ...(password === undefined ? ["AUTH"] : [])],
      logger: false,
      disableReverseLookup: true,
      closeTimeout: 50,
      ...(size === undefined ? {} : { size }),
      onConnect: (session, done) => {
        running?.countConnection(session.id);
        done();
      },
      onAuth: (auth, _session, done) => {
        // The server repeats the password, as a careless server does.
        if (auth.password !== password) done(replyError(535, `wrong password ${String(auth.password)}`));
        else done(null, { user: auth.username });
      },
      onRcptTo: ({ address }, _session, done) => {
        const code = options.reply?.(address);
        done(code === undefined || code === 250 ? undefined : replyError(code, `no mail for ${address}`));
      },
      onData: (stream, session, done) => running?.receive(stream, session, done),
    };
    running = new MailServer(new SMTPServer(settings), options);
    const { server } = running;
    // A client that leaves in the middle is an error of the server.
    server.on("error", () => {});
    server.server.on("connection", (socket: Socket) => running?.follow(socket));
    server.listen(options.port ?? 0, "127.0.0.1");
    await once(server.server, "listening");
    return running;
  }

  get port(): number {
    // The address of a TCP server that listens is an object.
    return (this.server.server.address() as AddressInfo).port;
  }

  get texts(): readonly string[] {
    return this.mails.map(({ text }) => text);
  }

  get openConnections(): number {
    return this.sockets.size;
  }

  /** Closes the connections, as a server that restarts does. */
  drop(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(resolve));
    this.drop();
    await closed;
  }

  private countConnection(id: string): void {
    this.connections += 1;
    this.numbers.set(id, this.connections);
  }

  private follow(socket: Socket): void {
    this.sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => this.sockets.delete(socket));
  }

  private receive(
    stream: Parameters<NonNullable<SMTPServerOptions["onData"]>>[0],
    session: Parameters<NonNullable<SMTPServerOptions["onData"]>>[1],
    done: Parameters<NonNullable<SMTPServerOptions["onData"]>>[2],
  ): void {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      if (this.options.closesOnContent?.() === true) this.drop();
    });
    stream.once("end", () => {
      const end = this.options.end?.();
      if (end === "close") this.drop();
      if (typeof end === "string") return;
      if (end !== undefined && end !== 250) {
        done(replyError(end, "not now"));
        return;
      }
      const { mailFrom, rcptTo } = session.envelope;
      this.mails.push({
        from: mailFrom === false ? "" : mailFrom.address,
        recipients: rcptTo.map(({ address }) => address),
        text: Buffer.concat(chunks).toString("latin1"),
        connection: this.numbers.get(session.id) ?? 0,
      });
      done();
    });
  }
}

function replyError(code: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode: code });
}
