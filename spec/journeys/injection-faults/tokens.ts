/** A list of tokens that is filled while the file with the tokens loads this one, before it has created them. */
// oxlint-disable-next-line import/no-cycle -- the cycle is the fault.
import { Late } from "./main.js";

export const tokens = { late: Late };
