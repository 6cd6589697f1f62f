/** A file that is compiled with the other kind of decorators than `application.ts`. */
import { type Class, Controller, Get } from "@stagecraft/framework";

export class Origin {
  @Get("/origin") origin() {
    return "origin";
  }
}

export function extendController(base: Class<object>): Class {
  @Controller("/other")
  class Extended extends base {
    @Get("/new") redecorated() {
      return "new";
    }
  }
  return Extended;
}
