/** An application whose users have API tokens, and a client for its endpoints. */
import {
  type ApplicationBuilder,
  Clock,
  Controller,
  type ContextOf,
  Delete,
  Get,
  inject,
  Post,
  provide,
  Reply,
  routes,
} from "@stagecraft/framework";
import { ApiTokens } from "@stagecraft/framework/auth";
import { apiToken, role, signedIn } from "@stagecraft/framework/auth/guards";
import { FakeClock, testApp, type TestApp } from "@stagecraft/framework/testing";
import { z } from "zod";
import { type AccountOptions, buildAccounts } from "../account-application.js";

export const MINUTE_MS = 60_000;

const newToken = z.object({
  name: z.string(),
  scopes: z.array(z.string()),
  expiresAt: z.coerce.date().optional(),
});

export const tokens = routes("tokens", "/tokens", {
  list: Get("/", { guards: [signedIn] }),
  create: Post("/", { guards: [signedIn], body: newToken }),
  revoke: Delete("/{id}", { guards: [signedIn] }),
});

export const api = routes("api", "/api", {
  whoami: Get("/", { guards: [apiToken] }),
  read: Get("/links", { guards: [apiToken("links:read")] }),
  write: Post("/links", { guards: [apiToken("links:write")] }),
  admin: Get("/admin", { guards: [apiToken, role("admin")] }),
});

@Controller(tokens)
export class TokensController {
  private readonly tokens = inject(ApiTokens);

  @tokens.list list({ identity }: ContextOf<typeof tokens.list>) {
    return this.tokens.list(identity.userId);
  }

  @tokens.create async create({ identity, input }: ContextOf<typeof tokens.create>) {
    return Reply.json(await this.tokens.create(identity.userId, input.body), 201);
  }

  @tokens.revoke async revoke({ identity, params }: ContextOf<typeof tokens.revoke>) {
    return Reply.json({ isRevoked: await this.tokens.revoke(identity.userId, params.id) });
  }
}

@Controller(api)
export class ApiController {
  @api.whoami whoami({ identity }: ContextOf<typeof api.whoami>) {
    return identity;
  }

  @api.read read() {
    return "read";
  }

  @api.write write() {
    return "written";
  }

  @api.admin admin({ identity }: ContextOf<typeof api.admin>) {
    return identity;
  }
}

export function buildTokens(options: AccountOptions = {}): ApplicationBuilder {
  const controllers = [TokensController, ApiController, ...(options.controllers ?? [])];
  return buildAccounts({ ...options, controllers });
}

export function startTokens({ clock = new FakeClock(), ...options }: AccountOptions = {}): Promise<TestApp> {
  return testApp(buildTokens(options), provide(Clock).useValue(clock));
}

export function createToken(app: TestApp, userId = "ada", values: { scopes?: string[]; expiresAt?: Date } = {}) {
  return app.resolve(ApiTokens).create(userId, { name: "laptop", scopes: ["links:read"], ...values });
}

/** A request with these bytes in its `Authorization` header. */
export const send = (app: TestApp, authorization: string | string[], path = api.whoami.url()) =>
  app.get(path, { headers: { authorization } });

export const sendToken = (app: TestApp, text: string, path?: string) => send(app, `Bearer ${text}`, path);
