/**
 * One connection to a mail server, with nodemailer's client. The client gets the addresses of the envelope and the finished bytes; it
 * composes no message, so it opens no file and fetches no URL.
 *
 * Internal: the pool opens sessions.
 */
import { Readable } from "node:stream";
import type SmtpClient from "nodemailer/lib/smtp-connection";
import { expectPeer, requirePeer } from "../../errors/optional-package.js";
import { type Clock } from "../../runtime/clock.js";
import type { MailMessage } from "../mail-message.js";
import { toConnectFailure, SmtpFailure } from "./smtp-failure.js";
import type { SmtpSettings } from "./smtp-options.js";
import { toOutcome, type SmtpOutcome } from "./smtp-outcome.js";

const PEER = {
  entry: "@stagecraft/framework/mail/smtp",
  name: "nodemailer",
  from: "10.1.0",
  install: "nodemailer@10",
  module: "nodemailer/lib/smtp-connection",
};

expectPeer(PEER);
const Client = requirePeer(PEER) as typeof SmtpClient;

/** A reply has a few lines. */
const MAX_REPLY_BYTES = 65_536;
const CHUNK_BYTES = 65_536;
const QUIT_LIMIT_MS = 1000;
/** The time limit of the client. The mailer has shorter limits, which follow its clock. */
const CLIENT_TIMEOUT_MS = 120_000;

export class SmtpSession {
  /** The number of mails that it has sent. */
  mails = 0;
  private isClosed = false;
  /** Ends the wait for the callback of a command. */
  private interrupt: (error: unknown) => void = () => {};

  private constructor(
    private readonly client: SmtpClient,
    private readonly settings: SmtpSettings,
    private readonly clock: Clock,
  ) {
    // Without a listener the client would throw the error of an unused connection.
    client.on("error", (error: unknown) => this.handleEnd(error));
    client.on("end", () => this.handleEnd(new Error("the connection has ended")));
  }

  /** Connects, and logs in. @throws SmtpFailure; the reason of the signal */
  static async open(settings: SmtpSettings, clock: Clock, signal: AbortSignal): Promise<SmtpSession> {
    const session = new SmtpSession(new Client(toClientOptions(settings)), settings, clock);
    const limit = new AbortController();
    const late = new SmtpFailure(`the mail server ${settings.host}:${settings.port} does not respond`, true);
    const timer = clock.setTimeout(() => limit.abort(late), settings.connectTimeoutMs);
    try {
      await session.connect(AbortSignal.any([signal, limit.signal]));
      return session;
    } catch (error) {
      session.close();
      throw signal.aborted || limit.signal.aborted ? error : toConnectFailure(error, settings);
    } finally {
      timer.cancel();
    }
  }

  get isUsable(): boolean {
    return !this.isClosed;
  }

  /** Tests with RSET whether the server still responds. @throws SmtpFailure; the reason of the signal */
  async check(signal: AbortSignal): Promise<void> {
    try {
      await this.run((done) => this.client.reset(done), signal);
    } catch (error) {
      this.close();
      throw signal.aborted ? error : toConnectFailure(error, this.settings);
    }
  }

  /** Does not reject. The session is closed unless the server has accepted the mail for all recipients. */
  async send(message: MailMessage, recipients: readonly string[], signal: AbortSignal): Promise<SmtpOutcome> {
    this.mails += 1;
    const { from, bytes } = message;
    const content = Readable.from(splitChunks(bytes), { objectMode: false });
    let isWhole = false;
    // From here on the client writes the end of the content, so the server may accept it.
    content.once("end", () => (isWhole = true));
    // The client adds the replies to the recipients to this object. It does not pass them with an error.
    const envelope = { from: from.address, to: [...recipients], size: bytes.length };
    let failed: { readonly error: unknown } | undefined;
    try {
      await this.run((done) => this.client.send(envelope, content, done), signal);
    } catch (error) {
      failed = { error };
      content.destroy();
    }
    const outcome = toOutcome({ recipients, failed, isWhole, envelope }, this.settings);
    if (failed !== undefined) this.close();
    return outcome;
  }

  close(): void {
    this.isClosed = true;
    this.client.close();
  }

  /** Sends QUIT, and closes the connection, after a second if the server does not respond. */
  quit(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const timer = this.clock.setTimeout(() => this.client.close(), QUIT_LIMIT_MS, { background: true });
    this.client.once("end", () => timer.cancel());
    this.client.quit();
  }

  private handleEnd(error: unknown): void {
    this.isClosed = true;
    this.interrupt(error);
  }

  private async connect(signal: AbortSignal): Promise<void> {
    await this.run((done) => this.client.connect(done), signal);
    const { login } = this.settings;
    if (login === undefined) return;
    const credentials = { user: login.user, pass: login.password };
    await this.run((done) => this.client.login({ credentials }, done), signal);
  }

  /** Settles with the callback. Rejects when the connection ends before, and when the signal aborts, which closes the connection. */
  private async run(start: (done: (error?: Error | null) => void) => void, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const aborted = (): void => {
      this.interrupt(signal.reason);
      this.close();
    };
    signal.addEventListener("abort", aborted, { once: true });
    try {
      await new Promise<void>((resolve, reject) => {
        this.interrupt = reject;
        start((error) => (error === undefined || error === null ? resolve() : reject(error)));
      });
    } finally {
      signal.removeEventListener("abort", aborted);
    }
  }
}

function toClientOptions({ host, port, security, tls, clientName }: SmtpSettings): object {
  return {
    host,
    port,
    secure: security === "tls",
    requireTLS: security === "starttls",
    ignoreTLS: security === "plain",
    tls: { ...tls, rejectUnauthorized: true },
    ...(clientName === undefined ? {} : { name: clientName }),
    maxResponseSize: MAX_REPLY_BYTES,
    connectionTimeout: CLIENT_TIMEOUT_MS,
    greetingTimeout: CLIENT_TIMEOUT_MS,
    dnsTimeout: CLIENT_TIMEOUT_MS,
    socketTimeout: CLIENT_TIMEOUT_MS,
    // A closed connection must not send the remaining bytes of a mail.
    socketCloseTimeout: 0,
    logger: false,
  };
}

function* splitChunks(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}
