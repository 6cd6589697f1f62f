/**
 * Addresses of mail: a strict form of RFC 5321. A text is exactly one address: no display name, no list, no comment, no quoted part before
 * the `@`, no address literal. So a text from a form cannot become two recipients, and cannot become a header.
 *
 * A domain in another script becomes its ASCII form. A part before the `@` in another script is refused, since many servers refuse it.
 *
 * @example
 * isMailAddress("ada@example.org"); // true
 * isMailAddress("Ada <ada@example.org>"); // false: give { name: "Ada", address: "ada@example.org" }
 */
import { domainToASCII } from "node:url";
import { hasForbiddenCharacter } from "./header-text.js";
import { MailContentError } from "./mail-error.js";

/** An address, or an address with the name that mail programs show. */
export type MailAddress = string | { readonly name: string; readonly address: string };

/** A checked address. */
export interface Mailbox {
  readonly name: string | undefined;
  readonly address: string;
}

const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
/** RFC 5321 section 4.5.3.1. */
const MAX_LOCAL_PART = 64;
const MAX_ADDRESS = 254;
export const MAX_NAME = 200;

export function isMailAddress(value: unknown): value is string {
  return typeof value === "string" && toAsciiAddress(value) !== undefined;
}

/** The address with its domain in ASCII, as mails have it; `undefined` for a text that is no address. @internal */
export function toAsciiAddress(text: string): string | undefined {
  if (text.length > MAX_ADDRESS) return undefined;
  const at = text.lastIndexOf("@");
  const local = text.slice(0, at);
  if (at < 1 || local.length > MAX_LOCAL_PART || !LOCAL_PART.test(local)) return undefined;
  const domain = toAsciiDomain(text.slice(at + 1));
  if (domain === undefined || local.length + 1 + domain.length > MAX_ADDRESS) return undefined;
  return `${local}@${domain}`;
}

/**
 * @param where names the place in a message, for example `to[0]`. The message does not hold the address.
 * @throws MailContentError `E_MAIL_ADDRESS`
 */
export function readMailbox(given: MailAddress, where: string): Mailbox {
  const { name, address: text } =
    typeof given === "string" ? { name: undefined, address: given } : readParts(given, where);
  const address = toAsciiAddress(text);
  if (address === undefined) throw invalidAddress(where, describeFault(text));
  return Object.freeze({ name: name === undefined || name.trim() === "" ? undefined : name, address });
}

/** The domain of a checked address. */
export function getDomain({ address }: Mailbox): string {
  return address.slice(address.lastIndexOf("@") + 1);
}

function readParts(given: unknown, where: string): { readonly name: string; readonly address: string } {
  const { name, address } = (typeof given === "object" && given !== null ? given : {}) as Record<string, unknown>;
  if (typeof address !== "string" || typeof name !== "string")
    throw invalidAddress(where, "is not a text and has no name and address");
  if (name.length > MAX_NAME) throw invalidAddress(where, `has a name of more than ${MAX_NAME} characters`);
  if (hasForbiddenCharacter(name))
    throw invalidAddress(where, "has a control character, such as a line break, in its name");
  return { name, address };
}

function toAsciiDomain(text: string): string | undefined {
  // Only letters, digits, hyphens and dots, in any script: the conversion drops some other characters and converts others to dots.
  if (!/^[\p{L}\p{N}\p{M}.-]+$/u.test(text)) return undefined;
  const domain = domainToASCII(text);
  const labels = domain.split(".");
  const isNumeric = /^\d+$/.test(labels.at(-1) ?? "");
  return !isNumeric && labels.every((label) => LABEL.test(label)) ? domain : undefined;
}

function describeFault(text: string): string {
  if (text.length > MAX_ADDRESS) return `has more than ${MAX_ADDRESS} characters`;
  if (hasForbiddenCharacter(text)) return "has a control character, such as a line break";
  if (/[<>,;]/.test(text))
    return "is not one bare address: give { name, address } for a name, and an array for several";
  return "is not an address of the form name@domain";
}

function invalidAddress(where: string, fault: string): MailContentError {
  return new MailContentError("E_MAIL_ADDRESS", `the address ${where} ${fault}`);
}
