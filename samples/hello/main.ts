import { Application, Context, Controller, Get, Module } from "@stagecraft/framework";
import { installLogging } from "@stagecraft/framework/observe";

const hello = Get("/hello/{name}", "hello");

@Controller()
class HelloController {
  @hello
  greet({ params }: Context<"name">) {
    return `Hello, ${params.name}!\n`;
  }
}

@Module({ controllers: [HelloController] })
class HelloModule {}

installLogging("info");
await Application.create(HelloModule).build().run();
