/** The NestJS applications, the same for both adapters. */
import { Body, Controller, Get, Header, HttpCode, Injectable, Module, Param, Post, Req } from "@nestjs/common";
import { areaResponse, areaPath, HELLO, LinkStore, NO_NAME } from "../../../../../dist/spec/tools/bench/fixtures.js";
import { decorate } from "./nest.mjs";

const plainText = Header("content-type", "text/plain; charset=utf-8");

Injectable()(LinkStore);

class HelloController {
  hello() {
    return HELLO;
  }
}
decorate(HelloController, { on: [Controller()], members: { hello: { on: [Get("/"), plainText] } } });

class SessionController {
  name({ session }) {
    return session.name ?? NO_NAME;
  }

  begin({ session }) {
    session.name = HELLO;
    return "";
  }
}
decorate(SessionController, {
  on: [Controller()],
  members: {
    name: { on: [Get("/"), plainText], parameters: [Req()] },
    begin: { on: [Get("/begin")], parameters: [Req()] },
  },
});

class LinksController {
  constructor(store) {
    this.store = store;
  }

  show(id) {
    return this.store.find(id);
  }
}
decorate(LinksController, {
  types: [LinkStore],
  on: [Controller("links")],
  members: { show: { on: [Get(":id")], parameters: [Param("id")] } },
});

class EchoController {
  echo(body) {
    return body;
  }
}
decorate(EchoController, {
  on: [Controller("echo")],
  members: { echo: { on: [Post(), HttpCode(200)], parameters: [Body()] } },
});

function areaController(area) {
  class AreaController {
    show(id) {
      return areaResponse(area, id);
    }
  }
  return decorate(AreaController, {
    on: [Controller()],
    members: { show: { on: [Get(areaPath(area, ":id")), plainText], parameters: [Param("id")] } },
  });
}

export function moduleOf({ controllers, providers = [], imports = [] }) {
  class BenchModule {}
  Module({ controllers, providers, imports })(BenchModule);
  return BenchModule;
}

export const helloModule = () => moduleOf({ controllers: [HelloController] });
export const sessionModule = () => moduleOf({ controllers: [SessionController] });
export const linksModule = (extra = {}) =>
  moduleOf({ ...extra, controllers: [LinksController], providers: [LinkStore, ...(extra.providers ?? [])] });
export const echoModule = () => moduleOf({ controllers: [EchoController] });
export const areasModule = (count) =>
  moduleOf({ controllers: Array.from({ length: count }, (_, area) => areaController(area)) });
