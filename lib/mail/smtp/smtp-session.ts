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
  from: "10.0.0",
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
  private lastError: unknown;

  private constructor(
    private readonly client: SmtpClient,
    private readonly settings: SmtpSettings,
    private readonly clock: Clock,
  ) {
    // Without a listener the client would throw the error of an unused connection.
    client.on("error", (error: unknown) => {
      this.lastError = error;
      this.isClosed = true;
    });
    client.on("end", () => (this.isClosed = true));
  }

  /** Connects, and logs in. @throws SmtpFailure; the reason of the signal */
  static async open(settings: SmtpSettings, clock: Clock, signal: AbortSignal): Promise<SmtpSession> {
    const session = new SmtpSession(new Client(toClientOptions(settings)), settings, clock);
    const limit = new AbortController();
    const late = new SmtpFailure(`the mail server ${settings.host}:${settings.port} does not respond`, true);
    const timer = clock.setTimeout(() => limit.abort(late), settings.connectTimeoutMs);
    try {
      await session.runWithin(AbortSignal.any([signal, limit.signal]), () => session.connect());
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
      await this.runWithin(signal, () => this.command((done) => this.client.reset(done)));
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
    const envelope = { from: from.address, to: [...recipients], size: bytes.length };
    let failed: { readonly error: unknown } | undefined;
    try {
      await this.runWithin(signal, () => this.command((done) => this.client.send(envelope, content, done)));
    } catch (error) {
      failed = { error };
      content.destroy();
    }
    const outcome = toOutcome({ recipients, failed, isWhole, envelope: this.envelope() }, this.settings);
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

  private async connect(): Promise<void> {
    await this.command((done) => this.client.connect(done));
    const { login } = this.settings;
    if (login === undefined) return;
    const credentials = { user: login.user, pass: login.password };
    await this.command((done) => this.client.login({ credentials }, done));
  }

  /** Settles with the callback, and rejects when the connection ends before. */
  private async command(run: (done: (error?: Error | null) => void) => void): Promise<void> {
    const { client } = this;
    let ended: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        ended = () => reject(this.lastError ?? new Error("the connection has ended"));
        client.once("error", ended);
        client.once("end", ended);
        run((error) => (error === undefined || error === null ? resolve() : reject(error)));
      });
    } finally {
      if (ended !== undefined) client.removeListener("error", ended).removeListener("end", ended);
    }
  }

  /** Settles as `work` does; when the signal aborts, it closes the connection and rejects with the reason. */
  private async runWithin(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    signal.throwIfAborted();
    let aborted: (() => void) | undefined;
    const abort = new Promise<never>((_resolve, reject) => {
      aborted = () => {
        reject(signal.reason as Error);
        this.close();
      };
      signal.addEventListener("abort", aborted, { once: true });
    });
    try {
      await Promise.race([work(), abort]);
    } finally {
      if (aborted !== undefined) signal.removeEventListener("abort", aborted);
    }
  }

  /**
   * The client's list of replies to the recipients. nodemailer does not pass it with the error of a refused message or of a lost
   * connection, so it is read here.
   */
  private envelope(): unknown {
    return Reflect.get(this.client, "_envelope");
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
