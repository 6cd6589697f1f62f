/**
 * The reason why a mail server could not be used. It takes only codes from an error of the client, because the message of that error quotes
 * the server, which may quote an address or the login.
 *
 * Internal: `SmtpSession` throws it, and `SmtpMailer` throws another error in its place.
 */
import type { SmtpSettings } from "./smtp-options.js";

export class SmtpFailure extends Error {
  constructor(
    message: string,
    /** Another attempt may succeed without a change of the options. */
    readonly isTemporary: boolean,
    /** The code of the server's reply, 0 without one. */
    readonly status = 0,
  ) {
    super(message);
    this.name = "SmtpFailure";
  }
}

/** The properties of an error of the client. */
export interface ClientError {
  readonly code: string;
  /** The code of the system or of TLS, for example `ECONNREFUSED`. */
  readonly originalCode: string;
  readonly command: string;
  readonly status: number;
}

export function readClientError(error: unknown): ClientError {
  const given = (typeof error === "object" && error !== null ? error : {}) as Readonly<Record<string, unknown>>;
  const text = (name: string): string => {
    const value = given[name];
    return typeof value === "string" && /^[A-Z0-9_ -]{1,60}$/.test(value) ? value : "";
  };
  const { responseCode } = given;
  const isStatus = Number.isInteger(responseCode) && Number(responseCode) >= 200 && Number(responseCode) <= 599;
  return {
    code: text("code"),
    originalCode: text("originalCode"),
    command: text("command"),
    status: isStatus ? Number(responseCode) : 0,
  };
}

/** The failure of a connection or of its login. */
export function toConnectFailure(error: unknown, { host, port }: SmtpSettings): SmtpFailure {
  const { code, originalCode, command, status } = readClientError(error);
  const server = `the mail server ${host}:${port}`;
  const detail = status === 0 ? originalCode || code : String(status);
  if (code === "EAUTH" || code === "ENOAUTH")
    return new SmtpFailure(
      `${server} refuses the login (${detail}): check user and password`,
      isTemporaryStatus(status),
      status,
    );
  if (isCertificateFault(originalCode))
    return new SmtpFailure(
      `${server} has a certificate that is not trusted (${originalCode}): check host and tls.ca`,
      false,
    );
  if (code === "ETLS" && (command === "STARTTLS" || status >= 500))
    return new SmtpFailure(`${server} does not offer STARTTLS: check port and security`, false, status);
  if (originalCode === "ECONNREFUSED")
    return new SmtpFailure(`${server} refuses connections: check host and port`, true);
  if (code === "EDNS") return new SmtpFailure(`${server} has no address: check host`, true);
  return new SmtpFailure(`${server} does not work (${detail})`, status < 500, status);
}

/** A reply in the range of 400 asks for another attempt (RFC 5321 section 4.2.1); without a reply the outcome is not known. */
export function isTemporaryStatus(status: number): boolean {
  return status < 500;
}

function isCertificateFault(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY)|ALTNAME/.test(code);
}
