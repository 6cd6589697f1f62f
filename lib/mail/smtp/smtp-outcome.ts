/**
 * The outcome of one attempt for each recipient: from the end of the attempt, and from the replies to the single recipients.
 *
 * A reply decides. Without a reply, the mail did not arrive if its content was not yet sent; afterwards it may have arrived (RFC 5321
 * section 4.2.5: a server takes responsibility for a mail when it accepts the end of the content).
 *
 * Internal: `SmtpSession` calls it.
 */
import type { RefusedRecipient } from "../mail-result.js";
import { readClientError, toConnectFailure, isTemporaryStatus, SmtpFailure } from "./smtp-failure.js";
import type { SmtpSettings } from "./smtp-options.js";

/** Each recipient is in one list; with a `failure` all lists are empty, because no outcome is known. */
export interface SmtpOutcome {
  readonly accepted: readonly string[];
  readonly rejected: readonly RefusedRecipient[];
  readonly unknown: readonly string[];
  readonly failure: SmtpFailure | undefined;
}

export interface SmtpAttempt {
  readonly recipients: readonly string[];
  readonly failed: { readonly error: unknown } | undefined;
  /** The content was sent to its end. */
  readonly isWhole: boolean;
  /** The envelope, to which the client has added the replies to the recipients. */
  readonly envelope: object;
}

/** The code for a message above the size that the server accepts (RFC 1870). The client does not send such a message. */
const TOO_LARGE = 552;

export function toOutcome({ recipients, failed, isWhole, envelope }: SmtpAttempt, settings: SmtpSettings): SmtpOutcome {
  const refusals = readRefusals(envelope);
  const rejected = recipients.flatMap((address) => toRefused(address, refusals.get(address)));
  const others = recipients.filter((address) => !refusals.has(address));
  if (failed === undefined) return { accepted: others, rejected, unknown: [], failure: undefined };
  const { code, status } = readClientError(failed.error);
  const isReply = code === "EENVELOPE" || code === "EMESSAGE";
  if (isReply) {
    const final = status === 0 ? TOO_LARGE : status;
    const all = recipients.flatMap((address) => toRefused(address, refusals.get(address) ?? final));
    return { accepted: [], rejected: all, unknown: [], failure: undefined };
  }
  if (isWhole) return { accepted: [], rejected, unknown: others, failure: undefined };
  return { accepted: [], rejected: [], unknown: [], failure: toConnectFailure(failed.error, settings) };
}

function toRefused(address: string, status: number | undefined): readonly RefusedRecipient[] {
  return status === undefined ? [] : [{ address, status, isTemporary: isTemporaryStatus(status) }];
}

/** The code of the reply for each refused recipient. The list belongs to the client, so its shape is checked. */
function readRefusals(envelope: object): ReadonlyMap<string, number> {
  const errors: unknown = Reflect.get(envelope, "rejectedErrors");
  const refusals = new Map<string, number>();
  for (const error of Array.isArray(errors) ? (errors as readonly unknown[]) : []) {
    const recipient: unknown =
      typeof error === "object" && error !== null ? Reflect.get(error, "recipient") : undefined;
    if (typeof recipient === "string") refusals.set(recipient, readClientError(error).status);
  }
  return refusals;
}
