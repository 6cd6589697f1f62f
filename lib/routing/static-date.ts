/**
 * An HTTP date (RFC 9110 section 5.6.7) in whole seconds since the Unix epoch, in any of its three forms. Never throws: what is no
 * date is `undefined`, and a header without a date counts as absent.
 */

const IMF = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const RFC_850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

export function readHttpDate(text: string): number | undefined {
  if (IMF.test(text) || RFC_850.test(text)) return secondsOf(text);
  return ASCTIME.test(text) ? secondsOf(`${text} GMT`) : undefined;
}

export function writeHttpDate(seconds: number): string {
  return new Date(seconds * 1000).toUTCString();
}

function secondsOf(text: string): number | undefined {
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1000;
}
