import { Application, Context, Controller, Get, Module } from "@stagecraft/framework";

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

export default Application.create(HelloModule);
