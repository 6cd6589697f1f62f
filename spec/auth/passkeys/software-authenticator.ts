/** A device with one passkey, in software: real bytes of WebAuthn level 3, without a browser. For specs that say something about a browser use `Visit`. */
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { PasskeyOptionsJson } from "@stagecraft/framework/auth/passkeys";

/** User present, user verified. */
const PRESENT = 0x05;
const WITH_CREDENTIAL = 0x40;
const ORIGIN = "http://localhost";
const RP_ID = "localhost";

const toText = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest();

export class SoftwareAuthenticator {
  private readonly keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  private readonly id = randomBytes(32);
  private userHandle = "";
  private counter = 0;

  /** The response to the options of a registration. */
  create(options: PasskeyOptionsJson): object {
    const { user } = options as { readonly user: { readonly id: string } };
    this.userHandle = user.id;
    const { x = "", y = "" } = this.keys.publicKey.export({ format: "jwk" });
    // A key of ES256 in COSE (RFC 9053 section 7.1.1).
    const coordinates = ["215820", Buffer.from(x, "base64url"), "225820", Buffer.from(y, "base64url")];
    const key = Buffer.concat(["a5010203262001", ...coordinates].map(toBytes));
    const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, this.id.length]), this.id, key]);
    const data = Buffer.concat([this.createData(PRESENT | WITH_CREDENTIAL), credential]);
    // { fmt: "none", attStmt: {}, authData } in CBOR (RFC 8949).
    const head = ["a363666d74646e6f6e65", "6761747453746d74a0", "68617574684461746158", Buffer.from([data.length])];
    const attestationObject = toText(Buffer.concat([...head.map(toBytes), data]));
    const clientDataJSON = toText(createClientData("webauthn.create", options));
    return this.createResponse({ clientDataJSON, attestationObject, transports: ["internal"] });
  }

  /** The response to the options of a sign-in. */
  get(options: PasskeyOptionsJson): object {
    this.counter++;
    const client = createClientData("webauthn.get", options);
    const data = this.createData(PRESENT);
    const signature = sign("sha256", Buffer.concat([data, sha256(client)]), this.keys.privateKey);
    return this.createResponse({
      clientDataJSON: toText(client),
      authenticatorData: toText(data),
      signature: toText(signature),
      userHandle: this.userHandle,
    });
  }

  private createData(flags: number): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    return Buffer.concat([sha256(RP_ID), Buffer.from([flags]), counter]);
  }

  private createResponse(response: object): object {
    const id = toText(this.id);
    return { id, rawId: id, type: "public-key", clientExtensionResults: {}, response };
  }
}

function toBytes(part: string | Buffer): Buffer {
  return typeof part === "string" ? Buffer.from(part, "hex") : part;
}

function createClientData(type: string, options: PasskeyOptionsJson): Buffer {
  const { challenge } = options as { readonly challenge: string };
  return Buffer.from(JSON.stringify({ type, challenge, origin: ORIGIN, crossOrigin: false }));
}
