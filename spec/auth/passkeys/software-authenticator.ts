/**
 * A device with one passkey, in software: real bytes of WebAuthn level 3 (ES256, no attestation), also those that no browser would send. For
 * specs that say something about a browser use `Visit`.
 */
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

/** The options of a ceremony, as far as the device reads them. */
export interface CeremonyOptions {
  readonly challenge: string;
  readonly user?: { readonly id: string };
}

export interface DeviceAnswers {
  readonly isVerified?: boolean;
  readonly counter?: number;
  readonly origin?: string;
  readonly rpId?: string;
  /** Another attestation object. */
  readonly attestation?: Uint8Array;
  readonly hasUserHandle?: boolean;
}

const sha256 = (data: string | Uint8Array): Buffer => createHash("sha256").update(data).digest();
const base64url = (data: string | Uint8Array): string => Buffer.from(data).toString("base64url");

export class SoftwareAuthenticator {
  private readonly id = randomBytes(32);
  private readonly keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  private userHandle = "";

  constructor(
    private readonly rpId = "localhost",
    private readonly origin = "http://localhost",
  ) {}

  /** `credential.toJSON()` of a registration. */
  create(options: CeremonyOptions, answers: DeviceAnswers = {}): object {
    this.userHandle = options.user?.id ?? "";
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const credential = Buffer.concat([Buffer.alloc(16), length, this.id, this.coseKey()]);
    const data = Buffer.concat([this.authenticatorData(answers, HAS_CREDENTIAL), credential]);
    const attestation = answers.attestation ?? toAttestation(data);
    return this.toJson({
      clientDataJSON: this.clientData("webauthn.create", options, answers),
      attestationObject: base64url(attestation),
      transports: ["internal"],
    });
  }

  /** `credential.toJSON()` of a sign-in. */
  get(options: CeremonyOptions, answers: DeviceAnswers = {}): object {
    const clientDataJSON = this.clientData("webauthn.get", options, answers);
    const data = this.authenticatorData(answers, 0);
    const signed = Buffer.concat([data, sha256(Buffer.from(clientDataJSON, "base64url"))]);
    return this.toJson({
      clientDataJSON,
      authenticatorData: base64url(data),
      signature: base64url(sign("sha256", signed, this.keys.privateKey)),
      ...(answers.hasUserHandle === false ? {} : { userHandle: this.userHandle }),
    });
  }

  private toJson(response: object): object {
    const id = base64url(this.id);
    return { id, rawId: id, type: "public-key", clientExtensionResults: {}, response };
  }

  private clientData(type: string, { challenge }: CeremonyOptions, { origin = this.origin }: DeviceAnswers): string {
    return base64url(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  }

  private authenticatorData(answers: DeviceAnswers, more: number): Buffer {
    const { isVerified = true, counter = 0, rpId = this.rpId } = answers;
    const tail = Buffer.alloc(5);
    tail.writeUInt8(USER_PRESENT | (isVerified ? USER_VERIFIED : 0) | more);
    tail.writeUInt32BE(counter, 1);
    return Buffer.concat([sha256(rpId), tail]);
  }

  /** RFC 9053 section 7.1.1. */
  private coseKey(): Buffer {
    const { x = "", y = "" } = this.keys.publicKey.export({ format: "jwk" });
    const [start, between] = [Buffer.from("a5010203262001215820", "hex"), Buffer.from("225820", "hex")];
    return Buffer.concat([start, Buffer.from(x, "base64url"), between, Buffer.from(y, "base64url")]);
  }
}

/** CBOR of `{ fmt: "none", attStmt: {}, authData }`. */
function toAttestation(data: Buffer): Buffer {
  const start = Buffer.from("cfmtdnonegattStmt");
  const length = Buffer.from([0x59, data.length >> 8, data.length & 0xff]);
  return Buffer.concat([Buffer.from([0xa3]), start, Buffer.from([0xa0]), Buffer.from("hauthData"), length, data]);
}
