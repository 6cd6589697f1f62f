/** HAProxy, Caddy and nginx with their files of the guide. Ports, certificates and folders are those of the spec. */
import { readFileSync, writeFileSync } from "node:fs";
import https from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Certificate } from "./certificate.js";
import { freePort } from "./free-port.js";
import { guideFile, replacedIn } from "./guide-files.js";
import { locate } from "./machine.js";
import { ServerProcess } from "./server-process.js";

const PAGE = "behind-a-proxy.md";
/** Each Debian has the user. */
export const USER = "nobody";

export type ProxyName = "haproxy" | "caddy" | "nginx";

interface Place {
  readonly folder: string;
  readonly http: number;
  readonly https: number;
  readonly targets: readonly [number, number];
  readonly certificate: Certificate;
}

/** Writes the files of the proxy. @returns the command */
const FILES: Readonly<Record<ProxyName, (place: Place) => readonly string[]>> = {
  haproxy: (place) => {
    const both = join(place.folder, "shop.pem");
    writeFileSync(both, readFileSync(place.certificate.keyFile, "utf8") + place.certificate.text);
    const file = written(place, "/etc/haproxy/haproxy.cfg", {
      "bind :80": `bind 127.0.0.1:${place.http}`,
      "bind :443": `bind 127.0.0.1:${place.https}`,
      "/etc/haproxy/shop.pem": both,
    });
    return [locate("haproxy") ?? "haproxy", "-db", "-f", file];
  },
  // Names and certificates are those of the spec. A program of a spec must not ask an authority for one, nor change what the machine trusts.
  caddy: (place) => {
    const { file: certificate, keyFile } = place.certificate;
    const file = written(place, "/etc/caddy/Caddyfile", {
      "{\n\tservers {": `{\n\tadmin off\n\tauto_https off\n\tskip_install_trust\n\tservers {`,
      "shop.example {": `:${place.https} {\n\ttls ${certificate} ${keyFile}`,
    });
    // It stores its settings, and creates folders.
    const home = ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"].map((name) => `${name}=${place.folder}`);
    return [...home, locate("caddy") ?? "caddy", "run", "--config", file, "--adapter", "caddyfile"];
  },
  nginx: (place) => {
    const site = written(place, "/etc/nginx/conf.d/shop.conf", {
      "listen 80;": `listen 127.0.0.1:${place.http};`,
      "listen 443 ": `listen 127.0.0.1:${place.https} `,
      "/etc/nginx/shop.pem": place.certificate.file,
      "/etc/nginx/shop.key": place.certificate.keyFile,
    });
    const file = join(place.folder, "nginx.conf");
    const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((each) => `${each}_temp_path ${each};`);
    const rest = ["events {}", `http { access_log off; ${folders.join(" ")} include ${site}; }`];
    writeFileSync(file, ["daemon off; master_process off; pid nginx.pid;", ...rest, ""].join("\n"));
    return [locate("nginx") ?? "nginx", "-e", "stderr", "-p", place.folder, "-c", file];
  },
};

function written(place: Place, name: string, replacements: Readonly<Record<string, string>>): string {
  const [one, two] = place.targets;
  const file = join(place.folder, "from-the-guide");
  const ports = { "127.0.0.1:3000": `127.0.0.1:${one}`, "127.0.0.1:3001": `127.0.0.1:${two}` };
  writeFileSync(file, replacedIn(guideFile(PAGE, name), { ...ports, ...replacements }));
  return file;
}

export interface Response {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export class ProxyServer implements AsyncDisposable {
  private constructor(
    readonly name: ProxyName,
    readonly http: number,
    private readonly secure: number,
    private readonly certificate: Certificate,
    private readonly server: ServerProcess,
  ) {}

  /** Resolves when a process of the application responds through it. */
  static async start(name: ProxyName, targets: Place["targets"], certificate: Certificate): Promise<ProxyServer> {
    const [plain, secure] = [await freePort(), await freePort()];
    const server = new ServerProcess({
      program: "env",
      user: USER,
      template: "proxy",
      makeTemplate: () => {},
      arguments: (folder) => FILES[name]({ folder, http: plain, https: secure, targets, certificate }),
      connects: async () => {
        const { status } = await proxy.ask("/up/ready");
        if (status !== 200) throw new Error(`the status is ${status}`);
      },
      killSignal: "SIGKILL",
    });
    const proxy = new ProxyServer(name, plain, secure, certificate, server);
    try {
      await server.start();
      return proxy;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The options of a request from an address that no proxy has. */
  get from(): https.RequestOptions {
    const { secure: port, certificate } = this;
    return { host: "127.0.0.1", port, localAddress: "127.0.0.9", servername: "localhost", ca: certificate.text };
  }

  /** @param body makes the request a POST */
  ask(path: string, options: https.RequestOptions = {}, body?: string): Promise<Response> {
    return new Promise((resolve, reject) => {
      const method = body === undefined ? "GET" : "POST";
      const request = https.request({ ...this.from, path, method, ...options }, (response) => {
        const { statusCode: status, headers } = response;
        text(response).then((received) => resolve({ status, headers, body: received }), reject);
      });
      request.on("error", reject).end(body);
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.server[Symbol.asyncDispose]();
  }
}
