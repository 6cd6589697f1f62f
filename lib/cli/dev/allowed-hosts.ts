/**
 * The names under which the port of the browser may be asked. A page of any other site can point a name at this machine (DNS rebinding) and
 * would read the application, and through Vite the sources. An IP address is no name, so it is always allowed.
 *
 * @example
 * const hosts = new AllowedHosts(["shop.test", ".preview.example"]);
 * hosts.hasHost("shop.test:3000"); // true
 */
import { isIP } from "node:net";

const HOST = /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/iu;

/** A name in a message is cut here. */
const MAX_SHOWN = 80;

export class AllowedHosts {
  private readonly names: readonly string[];

  /** @param names a dot at the start stands for all names below the rest. `localhost` and the names below it need no entry */
  constructor(names: readonly string[]) {
    this.names = ["localhost", ".localhost", ...names.map((name) => name.toLowerCase())];
  }

  /** @param host the header `Host`, with or without a port */
  hasHost(host = ""): boolean {
    if (!HOST.test(host) || !URL.canParse(`http://${host}`)) return false;
    const { hostname } = new URL(`http://${host}`);
    if (isIP(hostname.replaceAll(/[[\]]/gu, "")) !== 0) return true;
    return this.names.some((name) => (name.startsWith(".") ? hostname.endsWith(name) : hostname === name));
  }

  /** A client that is no browser sends no `Origin`. */
  hasOrigin(origin: string | undefined): boolean {
    return origin === undefined || (URL.canParse(origin) && this.hasHost(new URL(origin).host));
  }
}

/** Why a request was refused, and the fix. */
export function describeRefusal(host = ""): string {
  const name = JSON.stringify(host.replace(/:\d+$/u, "").slice(0, MAX_SHOWN));
  return `stagecraft dev does not respond for the host ${name}\n  fix: add "allowedHosts": [${name}] to "stagecraft" in package.json, if the name is yours\n`;
}
