/** The modules of the scenarios that need the main entry point only, written as a user would write them. */

import { type Context, Controller, Get, Injectable, Module, Post, Route, Routes } from "@stagecraft/framework";
import { areaResponse, areaPath, HELLO, LinkStore } from "../fixtures.js";

@Controller("/")
class HelloController {
  @Get("/")
  hello() {
    return HELLO;
  }
}

@Module({ controllers: [HelloController] })
export class HelloModule {}

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

@Controller("/echo")
class EchoController {
  @Post("/")
  echo(ctx: Context) {
    return ctx.json();
  }
}

@Module({ controllers: [EchoController] })
export class EchoModule {}

@Controller("/echo")
class AssignedEchoController {
  @Post("/")
  async echo(ctx: Context) {
    ctx.body = await ctx.json();
  }
}

/** Responds as a handler of Koa does. */
@Module({ controllers: [AssignedEchoController] })
export class AssignedEchoModule {}

export function areas(count: number): Routes {
  return new Routes(
    Array.from({ length: count }, (_, area) =>
      Route.get(areaPath(area, "{id}"), (ctx: Context<"id">) => areaResponse(area, ctx.params.id)),
    ),
  );
}
