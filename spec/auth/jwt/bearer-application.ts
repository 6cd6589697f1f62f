/** An application that takes access tokens of an issuer, and tokens that a spec signs as the issuer does, or as an attacker. */
import {
  Application,
  type Binding,
  Clock,
  Controller,
  type ContextOf,
  Get,
  Module,
  provide,
  routes,
} from "@stagecraft/framework";
import { bearer, issuer } from "@stagecraft/framework/auth/guards";
import { tokenVerification, type VerificationOptions } from "@stagecraft/framework/auth/jwt";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { CompactSign, exportJWK, generateKeyPair } from "jose";

export const company = issuer("company");
export const ISSUER = "https://id.company.example";
export const AUDIENCE = "https://api.shop.example";
/** In seconds: the clock of the application. */
export const NOW = 1_790_000_000;

export const orders = routes("orders", "/orders", {
  list: Get("/", { guards: [bearer(company)] }),
  read: Get("/read", { guards: [bearer(company, { scopes: ["orders:read", "orders:list"] })] }),
});

@Controller(orders)
class OrdersController {
  @orders.list list({ identity }: ContextOf<typeof orders.list>) {
    return identity;
  }

  @orders.read read() {
    return "read";
  }
}

export interface TestKey {
  readonly privateKey: CryptoKey;
  readonly jwk: Readonly<Record<string, unknown>>;
}

export async function createKey(kid = "first", alg = "ES256"): Promise<TestKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid } };
}

export const CLAIMS = {
  iss: ISSUER,
  aud: AUDIENCE,
  sub: "user-7",
  iat: NOW,
  exp: NOW + 600,
  client_id: "till",
  scope: "orders:read orders:list",
};

/** Signs any header and any payload. A payload that is a text is signed as it is. */
export function sign(key: TestKey, claims: object | string = {}, header: object = {}): Promise<string> {
  const payload = typeof claims === "string" ? claims : JSON.stringify({ ...CLAIMS, ...claims });
  const protectedHeader = { alg: "ES256", typ: "at+jwt", kid: "first", ...header };
  return new CompactSign(new TextEncoder().encode(payload)).setProtectedHeader(protectedHeader).sign(key.privateKey);
}

export function verificationOf(options: Partial<VerificationOptions>): readonly Binding[] {
  return tokenVerification(company, { issuer: ISSUER, audience: AUDIENCE, ...options });
}

export function buildOrders(bindings: readonly Binding[]) {
  @Module({ controllers: [OrdersController], providers: [...bindings] })
  class OrdersModule {}
  return Application.create(OrdersModule);
}

export function startOrders(
  options: Partial<VerificationOptions>,
  clock = new FakeClock(NOW * 1000),
): Promise<TestApp> {
  return testApp(buildOrders(verificationOf(options)), provide(Clock).useValue(clock));
}

export const send = (app: TestApp, text: string, path = orders.list.url()) =>
  app.get(path, { headers: { authorization: `Bearer ${text}` } });

/** The reasons in the log, in their order. */
export function reasonsOf(app: TestApp): readonly unknown[] {
  const lines = app.logs.lines().map((line) => JSON.parse(line) as { message: string; fields?: { reason?: string } });
  return lines.filter(({ message }) => message === "access token refused").map(({ fields }) => fields?.reason);
}

/** A part of a token. */
export const encode = (value: unknown) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
