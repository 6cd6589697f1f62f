/** What a status line can say, found out before anyone is told of an answer: Node refuses the rest only when the head is written. */
import { validateHeaderValue } from "node:http";

/** Whether a status ends a request: those below 200 announce another head, and above 599 there are none (RFC 9110 section 15). */
export function isFinalStatus(code: number): boolean {
  return code >= 200 && code <= 599 && Number.isInteger(code);
}

/** @throws TypeError for a status that ends no request. */
export function checkFinalStatus(code: number): void {
  if (!isFinalStatus(code))
    throw new TypeError(`invalid status code: ${String(code)}; give an integer from 200 to 599`);
}

/** @throws TypeError for a line break, or a character that no header can carry. */
export function checkStatusMessage(text: string): void {
  validateHeaderValue("status message", text);
}
