import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const derive = promisify<string, Buffer, number, Buffer>(scrypt);
const BYTES = 32;

/** The stored form of a password: its salt and its scrypt hash. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  return `${salt.toString("hex")}.${(await derive(password, salt, BYTES)).toString("hex")}`;
}

/**
 * @param stored `undefined` if there is no such user: this takes the same time, so that the time of the response does not tell which users
 * exist
 */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [salt = "", hash = ""] = (stored ?? `${"00".repeat(16)}.${"00".repeat(BYTES)}`).split(".");
  const derived = await derive(password, Buffer.from(salt, "hex"), BYTES);
  return timingSafeEqual(derived, Buffer.from(hash, "hex")) && stored !== undefined;
}
