import type { RawOptions } from "../../lib/testing/raw-exchange.js";

/** For raw bytes whose response ends the connection. A busy machine may pause for seconds before the response, or in the middle of it. */
export const PATIENT: RawOptions = { quietMs: 15_000, limitMs: 15_000 };
