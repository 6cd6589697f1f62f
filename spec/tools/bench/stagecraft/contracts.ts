/** The echo through the contract of an endpoint: its body, with a guard, and with its response stripped. */
import {
  Application,
  type ApplicationBuilder,
  type ContextOf,
  Controller,
  guard,
  Guards,
  Injectable,
  Module,
  Post,
} from "@stagecraft/framework";
import { Link } from "../link-schema.js";

const echo = Post("/", { body: Link });

@Controller("/echo")
class EchoController {
  @echo
  echo({ input }: ContextOf<typeof echo>) {
    return input.body;
  }
}

@Module({ controllers: [EchoController] })
class CheckedModule {}

export function checked(): ApplicationBuilder {
  return Application.create(CheckedModule);
}

const visitor = guard<{ visitor: string }>("visitor");
const guardedEcho = Post("/", { guards: [visitor], body: Link });

@Injectable()
class Visitors {
  @Guards(visitor)
  find() {
    return { visitor: "Ada" };
  }
}

@Controller("/echo")
class GuardedController {
  @guardedEcho
  echo({ input }: ContextOf<typeof guardedEcho>) {
    return input.body;
  }
}

@Module({ controllers: [GuardedController], providers: [Visitors] })
class GuardedModule {}

export function guarded(): ApplicationBuilder {
  return Application.create(GuardedModule);
}

const strippedEcho = Post("/", { body: Link, responses: { 200: Link }, stripResponses: true });

@Controller("/echo")
class StrippedController {
  @strippedEcho
  echo({ input }: ContextOf<typeof strippedEcho>) {
    return input.body;
  }
}

@Module({ controllers: [StrippedController] })
class StrippedModule {}

export function stripped(): ApplicationBuilder {
  return Application.create(StrippedModule);
}
