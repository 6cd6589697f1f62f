/** Answers that have no body, whatever somebody set (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
export function isEmptyStatus(code: number): boolean {
  return code === 204 || code === 205 || code === 304;
}
