/** The company: the certified provider `oidc-provider` on a real socket, which signs staff in and issues the tokens of services. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { API } from "./application.js";
import { account } from "./endpoints.js";

const SECRET = "secret";
const SERVICE = { client_id: "shop", client_secret: SECRET };

export class Company implements AsyncDisposable {
  private listener: RequestListener | undefined;
  private readonly server = createServer((request, response) => this.listener?.(request, response));

  static async start(): Promise<Company> {
    const company = new Company();
    company.server.listen(0, "127.0.0.1");
    await once(company.server, "listening");
    return company;
  }

  get issuer(): string {
    // A server that listens on TCP has an address that is an object.
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The provider knows the desk by its URL, which is known when the desk listens. */
  async register(url: string): Promise<void> {
    const { Provider } = await import("oidc-provider");
    const desk = {
      client_id: "desk",
      client_secret: SECRET,
      redirect_uris: [url + account.callback.url("company")],
      post_logout_redirect_uris: [url + account.signInPage.url()],
      grant_types: ["authorization_code", "refresh_token"],
    };
    const service = { ...SERVICE, redirect_uris: [], response_types: [], grant_types: ["client_credentials"] };
    const provider = new Provider(this.issuer, {
      clients: [desk, service],
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
      findAccount: (_ctx, id) => ({
        accountId: id,
        claims: () => ({ sub: id, email: `${id}@company.example`, email_verified: true, name: id }),
      }),
      features: {
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({
            scope: "tickets:read tickets:write",
            audience: API,
            accessTokenFormat: "jwt",
          }),
        },
      },
    });
    const respond = provider.callback();
    this.listener = (request, response) => void respond(request, response);
  }

  /** The header of a service with an access token of these scopes. */
  async authorize(scope: string): Promise<Readonly<Record<string, string>>> {
    const form = { ...SERVICE, grant_type: "client_credentials", scope, resource: API };
    const authorization = `Basic ${btoa(`${SERVICE.client_id}:${SERVICE.client_secret}`)}`;
    const { client_id: _id, client_secret: _secret, ...body } = form;
    const response = await fetch(`${this.issuer}/token`, {
      method: "POST",
      headers: { authorization },
      body: new URLSearchParams(body),
    });
    const { access_token: text } = (await response.json()) as { access_token: string };
    return { Authorization: `Bearer ${text}` };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }
}
