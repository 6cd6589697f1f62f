/** A provider of OpenID Connect on this machine, which tells the truth until a spec has it lie, fail or hang. It signs with ES256 by jose. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type JWK } from "jose";
import { provider, type OAuthProvider, type ProviderOptions } from "@stagecraft/framework/oauth";
import type { TestClient, TestResponse } from "@stagecraft/framework/testing";

export const SECRETS = {
  code: "canary4711code",
  accessToken: "canary4711accesstoken",
  refreshToken: "canary4711refreshtoken",
  clientSecret: "canary4711clientsecret",
};

/** What goes through the pages. */
export interface Browser {
  get(path: string): Promise<Response>;
}

/** Values in the place of the true ones. */
export interface Lies {
  claims?: Record<string, unknown>;
  header?: { alg: string; kid?: string };
  discovery?: Record<string, unknown>;
  /** The status of a path. */
  status?: Record<string, number>;
  /** Paths that never respond. */
  hangs?: readonly string[];
  /** Responses of paths, written by hand. */
  raw?: Readonly<Record<string, (response: ServerResponse, form: URLSearchParams) => void>>;
  tokens?: Record<string, unknown>;
}

export class LiarProvider implements AsyncDisposable {
  lies: Lies = {};
  /** The paths of the requests. */
  readonly requests: string[] = [];
  readonly idTokens: string[] = [];
  person: Record<string, unknown> = { sub: "ada-7", email: "Ada@shop.example", email_verified: true, name: "Ada" };
  /** The forms that the token endpoint got. */
  readonly forms: URLSearchParams[] = [];
  private readonly nonces = new Map<string, string>();
  private codes = 0;
  private keyNumber = 0;
  private key: CryptoKey | undefined;
  private jwk: JWK = {};

  private constructor(private readonly server = createServer()) {
    server.on("request", (request, response) => void this.respond(request, response));
  }

  static async start(): Promise<LiarProvider> {
    const started = new LiarProvider();
    started.server.listen(0, "127.0.0.1");
    await once(started.server, "listening");
    await started.rotateKey();
    return started;
  }

  get url(): string {
    // A server that listens on TCP has an address that is an object.
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  provider(options: Partial<ProviderOptions> = {}): OAuthProvider {
    const { clientSecret } = SECRETS;
    return provider({ name: "liar", issuer: this.url, clientId: "shop", clientSecret, ...options });
  }

  async rotateKey(): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair("ES256");
    this.key = privateKey;
    this.jwk = { ...(await exportJWK(publicKey)), kid: `key-${++this.keyNumber}`, alg: "ES256", use: "sig" };
  }

  /** The path of the callback to which this provider leads, from the path that starts at the application. */
  async visit(client: Browser, path: string): Promise<string> {
    const location = (await client.get(path)).headers.get("location") ?? "";
    const { searchParams } = new URL(location);
    const { pathname } = new URL(searchParams.get("redirect_uri") ?? "");
    const code = `${SECRETS.code}${++this.codes}`;
    this.nonces.set(code, searchParams.get("nonce") ?? "");
    return `${pathname}?${new URLSearchParams({ code, state: searchParams.get("state") ?? "" }).toString()}`;
  }

  async signIn(client: TestClient, path: string): Promise<TestResponse> {
    return client.get(await this.visit(client, path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ""] = (request.url ?? "").split("?");
    this.requests.push(path);
    if (this.lies.hangs?.includes(path) === true) return;
    const form = await readForm(request);
    if (request.method === "POST") this.forms.push(form);
    const raw = this.lies.raw?.[path];
    if (raw !== undefined) return raw(response, form);
    const status = this.lies.status?.[path] ?? 200;
    const body =
      status === 200 ? await this.createBody(path, form) : { error: "invalid_grant", error_description: "<b>" };
    response.writeHead(body === undefined ? 404 : status, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? {}));
  }

  private async createBody(path: string, form: URLSearchParams): Promise<object | undefined> {
    if (path === "/.well-known/openid-configuration") return this.createConfiguration();
    if (path === "/jwks") return { keys: [this.jwk] };
    if (path === "/userinfo") return this.person;
    if (path !== "/token") return undefined;
    const tokens = {
      access_token: SECRETS.accessToken,
      refresh_token: SECRETS.refreshToken,
      token_type: "Bearer",
      expires_in: 3600,
    };
    if (form.get("grant_type") === "refresh_token") return { ...tokens, ...this.lies.tokens };
    const code = form.get("code") ?? "";
    const nonce = this.nonces.get(code);
    // A code is spent once.
    this.nonces.delete(code);
    if (nonce === undefined) return { error: "invalid_grant" };
    return { ...tokens, id_token: await this.createIdToken(nonce), ...this.lies.tokens };
  }

  private createConfiguration(): object {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      jwks_uri: `${this.url}/jwks`,
      userinfo_endpoint: `${this.url}/userinfo`,
      end_session_endpoint: `${this.url}/end`,
      id_token_signing_alg_values_supported: ["ES256"],
      ...this.lies.discovery,
    };
  }

  private async createIdToken(nonce: string): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: this.url, aud: "shop", iat: now, exp: now + 300, nonce, ...this.person, ...this.lies.claims };
    const { alg = "ES256", kid = this.jwk.kid ?? "" } = this.lies.header ?? {};
    const key = alg === "HS256" ? new TextEncoder().encode(JSON.stringify(this.jwk)) : this.key;
    if (key === undefined) throw new Error("no key");
    const signer = new SignJWT(claims).setProtectedHeader({ alg: alg === "none" ? "ES256" : alg, kid });
    const signed = await signer.sign(key);
    const text = alg === "none" ? toUnsigned(signed) : signed;
    this.idTokens.push(text);
    return text;
  }
}

function toUnsigned(token: string): string {
  const header = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
  return `${header}.${token.split(".")[1] ?? ""}.`;
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return new URLSearchParams(text);
}
