import type { RawOptions } from "../../lib/testing/raw-exchange.js";

/** For raw bytes whose answer ends the connection. A busy machine may pause for seconds before the answer, or in the middle of it. */
export const PATIENT: RawOptions = { quietMs: 15_000, limitMs: 15_000 };
