/**
 * A TLS proxy in front of an application, with a new self-signed certificate: for browser features that need TLS. A browser trusts the
 * certificate if it is started with the hash of its key.
 */
import { createHash, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { connect, type AddressInfo } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BITS = 0x03;
const OBJECT = 0x06;
const TEXT = 0x0c;
const TIME = 0x17;
const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const COMMON_NAME = [0x55, 0x04, 0x03];

export class TlsFront implements AsyncDisposable {
  private readonly sockets = new Set<TLSSocket>();

  private constructor(
    private readonly server: Server,
    /** SHA-256 of the public key in base64, the form that browsers accept. */
    readonly keyHash: string,
  ) {}

  /** @param port returns the port of the application, at each connection */
  static async of(port: () => number): Promise<TlsFront> {
    const { key, cert, keyHash } = selfSigned();
    const server = createServer({ key, cert });
    const front = new TlsFront(server, keyHash);
    server.on("secureConnection", (socket) => front.relay(socket, port()));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return front;
  }

  get port(): number {
    // The address of a TCP server that listens is an object.
    return (this.server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, "close");
  }

  private relay(socket: TLSSocket, port: number): void {
    this.sockets.add(socket);
    const inner = connect(port, "127.0.0.1");
    socket.pipe(inner).on("error", () => socket.destroy());
    inner.pipe(socket).on("error", () => inner.destroy());
    socket.once("close", () => {
      this.sockets.delete(socket);
      inner.destroy();
    });
  }
}

/** A new key and its certificate in PEM, and SHA-256 of the public key in base64. */
export function selfSigned(): { readonly key: string; readonly cert: string; readonly keyHash: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  const key = privateKey.export({ type: "pkcs8", format: "pem" });
  const keyHash = createHash("sha256").update(spki).digest("base64");
  return { key: String(key), cert: certificate(spki, privateKey), keyHash };
}

/** A minimal certificate (RFC 5280 section 4.1) in PEM, signed by its own key. */
function certificate(spki: Buffer, key: KeyObject): string {
  const algorithm = der(SEQUENCE, der(OBJECT, ECDSA_WITH_SHA256));
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, der(OBJECT, COMMON_NAME), der(TEXT, Buffer.from("spec")))));
  const validity = der(SEQUENCE, der(TIME, Buffer.from("200101000000Z")), der(TIME, Buffer.from("491231235959Z")));
  const body = der(SEQUENCE, der(INTEGER, [1]), algorithm, name, validity, name, spki);
  const whole = der(SEQUENCE, body, algorithm, der(BITS, [0], sign("sha256", body, key)));
  return `-----BEGIN CERTIFICATE-----\n${whole.toString("base64")}\n-----END CERTIFICATE-----\n`;
}

/** One element in the Distinguished Encoding Rules. */
function der(tag: number, ...contents: readonly (Uint8Array | readonly number[])[]): Buffer {
  const content = Buffer.concat(contents.map((each) => Uint8Array.from(each)));
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Uint8Array.of(tag, ...size), content]);
}
