/** The device of a sign-in, as a person recognises it in the list of sign-ins: its browser and its address. */
import type { Context } from "../../http/request/context.js";
import { sessionKey } from "../../stages/session/session-value.js";

export interface SignInDevice {
  /** `User-Agent`, at most 256 characters of printable ASCII; `""` without one. The client chooses it. */
  readonly userAgent: string;
  /** The address by the rules of the trusted proxies. */
  readonly address: string;
}

export const DEVICE = sessionKey<SignInDevice>("auth-device");

export const MAX_USER_AGENT_LENGTH = 256;
/** An IPv6 address with a zone. */
export const MAX_ADDRESS_LENGTH = 64;

export function readDevice(ctx: Context): SignInDevice {
  // A database may have a character set without other letters.
  const userAgent = ctx
    .get("user-agent")
    .slice(0, MAX_USER_AGENT_LENGTH)
    .replaceAll(/[^ -~]/g, "?");
  return { userAgent, address: ctx.ip.slice(0, MAX_ADDRESS_LENGTH) };
}
