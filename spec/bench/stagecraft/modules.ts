/** The applications of the scenarios, written as a user would write them. */

import { type Context, Controller, Get, Injectable, Module, Post, Route, Routes } from "@stagecraft/framework";
import { contract, page } from "@stagecraft/framework/pages";
import { Session, sessionKey } from "@stagecraft/framework/session";
import { areaAnswer, areaPath, HELLO, LinkStore, NO_NAME, PAGE_COMPONENT, pageProps } from "../fixtures.js";

const index = contract(PAGE_COMPONENT, {});

@Controller("/")
class HelloController {
  @Get("/")
  hello() {
    return HELLO;
  }
}

@Module({ controllers: [HelloController] })
export class HelloModule {}

const NAME = sessionKey<string>("name");

@Controller("/")
class SessionController {
  @Get("/")
  async name(ctx: Context) {
    return (await Session.of(ctx).get(NAME)) ?? NO_NAME;
  }

  @Get("/begin")
  begin(ctx: Context) {
    Session.of(ctx).put(NAME, HELLO);
  }
}

@Module({ controllers: [SessionController] })
export class SessionModule {}

Injectable()(LinkStore);

@Controller("/links")
class LinksController {
  constructor(private readonly store: LinkStore) {}

  @Get("/{id}")
  show({ params }: Context<"id">) {
    return this.store.find(params.id);
  }
}

@Module({ controllers: [LinksController], providers: [LinkStore] })
export class LinksModule {}

@Controller("/links")
class PagesController {
  @Get("/")
  index() {
    return page(index, pageProps());
  }
}

@Module({ controllers: [PagesController] })
export class PagesModule {}

@Controller("/echo")
class EchoController {
  @Post("/")
  echo(ctx: Context) {
    return ctx.json();
  }
}

@Module({ controllers: [EchoController] })
export class EchoModule {}

export function areas(count: number): Routes {
  return new Routes(
    Array.from({ length: count }, (_, area) =>
      Route.get(areaPath(area, "{id}"), (ctx: Context<"id">) => areaAnswer(area, ctx.params.id)),
    ),
  );
}
