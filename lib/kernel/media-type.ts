/** The media types the framework itself writes. JSON never carries a charset (RFC 8259 section 11). */
export const TEXT = "text/plain; charset=utf-8";
export const HTML = "text/html; charset=utf-8";
export const JSON_TYPE = "application/json";
export const BYTES = "application/octet-stream";
