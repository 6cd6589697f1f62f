/** The smallest application: one module, one controller, one route. `node dist/samples/hello/main.js`, then `curl localhost:3000`. */
import { realpathSync } from "node:fs";
import { Application, Controller, Get, Module } from "@stagecraft/framework";

@Controller("/")
class HelloController {
  @Get("/", "hello")
  hello() {
    return "Hello, world!\n";
  }
}

@Module({ controllers: [HelloController] })
export class HelloModule {}

export const application = () => Application.create(HelloModule).build();

if (realpathSync(process.argv[1] ?? "") === import.meta.filename) await application().run();
