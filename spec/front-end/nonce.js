/** The nonce of the document, for the elements that the client makes; on the server the framework adds it. */
export const nonce =
  typeof document === "undefined" ? undefined : document.querySelector("meta[property=csp-nonce]")?.nonce;
