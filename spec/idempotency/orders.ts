/** An application with one `idempotent` endpoint, for the specs of the stores. The caller is the text of `Authorization`. */
import {
  Application,
  Clock,
  type Context,
  guard,
  Guards,
  type IdempotentOptions,
  Injectable,
  Post,
  provide,
  Route,
  Routes,
  UnauthorizedError,
} from "@stagecraft/framework";
import { Idempotency, type IdempotencyStore } from "@stagecraft/framework/idempotency";
import { testApp, type TestApp, type TestResponse } from "@stagecraft/framework/testing";
import { z } from "zod";

export const signedIn = guard<{ user: string }>("signed-in");

@Injectable()
export class Accounts {
  @Guards(signedIn) check(ctx: Context) {
    const user = ctx.get("authorization");
    if (user === "") throw new UnauthorizedError("sign in first");
    return { user };
  }
}

type OrderContext = Context<"shop"> & { readonly user: string };
export type OrderHandler = (ctx: OrderContext) => unknown;

export const bindIdempotency = (store: IdempotencyStore) =>
  provide(Idempotency).useValue(new Idempotency(store, { principal: (ctx: Context & { user?: string }) => ctx.user }));

export interface OrderSettings {
  readonly clock?: Clock;
  readonly options?: true | IdempotentOptions;
}

export function buildOrders(store: IdempotencyStore, handler: OrderHandler, { options = true }: OrderSettings = {}) {
  const add = Post("/shops/{shop}/orders", {
    guards: [signedIn],
    body: z.object({ article: z.string() }),
    idempotent: options,
  });
  const route = Route.of(add, (ctx) => handler(ctx as OrderContext));
  return Application.create()
    .provide(Accounts, bindIdempotency(store))
    .routes(new Routes([route]));
}

export function startOrders(
  store: IdempotencyStore,
  handler: OrderHandler,
  settings: OrderSettings = {},
): Promise<TestApp> {
  const clock = settings.clock === undefined ? [] : [provide(Clock).useValue(settings.clock)];
  return testApp(buildOrders(store, handler, settings), ...clock);
}

export interface OrderRequest {
  readonly key?: string;
  readonly shop?: string;
  readonly user?: string;
  readonly article?: unknown;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends an order; the defaults are those of one request. */
export function order(app: TestApp, request: OrderRequest = {}): Promise<TestResponse> {
  const { key = "k-1", shop = "north", user = "ada", article = "tea", query = "", headers = {} } = request;
  return app.post(`/shops/${shop}/orders${query}`, {
    json: { article },
    headers: {
      ...(user !== "" && { authorization: user }),
      ...(key !== "" && { "idempotency-key": key }),
      ...headers,
    },
  });
}

export interface Seen {
  readonly status: number;
  readonly text: string;
  readonly isReplayed: boolean;
}

export async function see(response: Promise<TestResponse>): Promise<Seen> {
  const { status, headers, text } = await response.then(async (each) => ({
    status: each.status,
    headers: each.headers,
    text: await each.text(),
  }));
  return { status, text, isReplayed: headers.get("idempotency-replayed") === "true" };
}
