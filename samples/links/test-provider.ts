/**
 * A provider of OpenID Connect on this machine, at which anybody signs in as any test person. `dev.ts` and the specs start it. It is the
 * certified package `oidc-provider` with a form of its own. Never for real people: it asks for no password.
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type Configuration, interactionPolicy, type KoaContextWithOIDC, Provider } from "oidc-provider";
import { messagePage, signInPage } from "./test-provider-pages.js";
import { TestRecords } from "./test-provider-records.js";

const CLIENT = { client_id: "links", client_secret: "of-the-test-provider" };
const NAME = /^[a-z][a-z\d-]{0,31}$/;
const SCOPES = "openid email profile";
const HOUR_S = 3600;

/** Context and names of the middleware of the package. */
type ProviderContext = Parameters<Parameters<Provider["use"]>[0]>[0];

export class TestProvider implements AsyncDisposable {
  /** Whether the provider has verified the address of a person, from the last form of the person. */
  private readonly people = new Map<string, boolean>();
  private readonly provider: Provider;

  private constructor(
    readonly issuer: string,
    private readonly server: Server,
  ) {
    this.provider = new Provider(issuer, this.configure());
    this.provider.Client.prototype.redirectUriAllowed = isOnThisMachine;
    this.provider.use((ctx, next) => (ctx.path.startsWith("/interaction/") ? this.ask(ctx) : next()));
  }

  /** On a free port of this machine. */
  static async start(): Promise<TestProvider> {
    let respond: RequestListener | undefined;
    const server = createServer((request, response) => respond?.(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    // A server that listens on TCP has an address that is an object.
    const { port } = server.address() as AddressInfo;
    const started = new TestProvider(`http://127.0.0.1:${port}`, server);
    const listener = started.provider.callback();
    respond = (request, response) => void listener(request, response);
    return started;
  }

  /** The variables with which the sample signs in here. */
  get variables() {
    return {
      OAUTH_ISSUER: this.issuer,
      OAUTH_CLIENT_ID: CLIENT.client_id,
      OAUTH_CLIENT_SECRET: CLIENT.client_secret,
      OAUTH_NAME: "Test Provider",
    };
  }

  /** The process may end without a `close`. */
  unref(): this {
    this.server.unref();
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, "close");
  }

  /** Everything that the package would warn about is set: keys, store, times and pages. */
  private configure(): Configuration {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    return {
      adapter: () => new TestRecords(),
      clients: [{ ...CLIENT, redirect_uris: ["http://localhost/"] }],
      jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kty: "RSA" }] },
      cookies: { keys: [randomBytes(32).toString("hex")] },
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
      ttl: {
        AccessToken: HOUR_S,
        AuthorizationCode: 60,
        Grant: HOUR_S,
        IdToken: HOUR_S,
        Interaction: HOUR_S,
        Session: HOUR_S,
      },
      features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: false } },
      interactions: { policy: askEachTime() },
      findAccount: (_ctx, name) => ({ accountId: name, claims: () => this.describe(name) }),
      loadExistingGrant: grantAll,
      renderError: (ctx, { error, error_description: description }) => {
        ctx.type = "html";
        ctx.body = messagePage("Something is wrong", description ?? error);
      },
    };
  }

  private describe(name: string) {
    const isVerified = this.people.get(name) === true;
    return { sub: name, email: `${name}@example.org`, email_verified: isVerified, name };
  }

  private async ask(ctx: ProviderContext): Promise<void> {
    ctx.type = "html";
    ctx.set("Cache-Control", "no-store");
    try {
      const { params } = await this.provider.interactionDetails(ctx.req, ctx.res);
      ctx.body = signInPage(new URL(String(params["redirect_uri"])).host);
      if (ctx.method === "POST") await this.finish(ctx);
    } catch {
      ctx.status = 400;
      ctx.body = messagePage("This sign-in is over", "Go back to the application, and start again there.");
    }
  }

  private async finish(ctx: ProviderContext): Promise<void> {
    const form = new URLSearchParams(await text(ctx.req));
    const name = (form.get("name") ?? "").trim().toLowerCase();
    if (form.has("cancel")) return this.leave(ctx, { error: "access_denied", error_description: "canceled" });
    if (!NAME.test(name)) return;
    this.people.set(name, form.has("verified"));
    await this.leave(ctx, { login: { accountId: name } });
  }

  private async leave(ctx: ProviderContext, result: Parameters<Provider["interactionResult"]>[2]): Promise<void> {
    ctx.redirect(await this.provider.interactionResult(ctx.req, ctx.res, result));
  }
}

/** A session at the provider would sign the last person in again without a form. */
function askEachTime() {
  const policy = interactionPolicy.base();
  const { Check } = interactionPolicy;
  const check = new Check("each_time", "the person is asked each time", (ctx) =>
    ctx.oidc.result?.login === undefined ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
  );
  policy.get("login")?.checks.add(check);
  return policy;
}

/** The person has agreed by the form. */
async function grantAll({ oidc }: KoaContextWithOIDC) {
  const { client, session, provider } = oidc;
  const grant = new provider.Grant({ clientId: client?.clientId ?? "", accountId: session?.accountId ?? "" });
  grant.addOIDCScope(SCOPES);
  await grant.save();
  return grant;
}

function isOnThisMachine(url: string): boolean {
  return URL.canParse(url) && ["localhost", "127.0.0.1"].includes(new URL(url).hostname);
}
