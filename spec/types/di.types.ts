/** The compile-time checks of bindings and modules. Compiled, never run. */
import { inject } from "../../lib/di/construction/inject.js";
import { Injectable } from "../../lib/di/injectable.js";
import { Module } from "../../lib/di/module.js";
import { provide } from "../../lib/di/provide.js";
import { token } from "../../lib/di/token.js";
import type { Container } from "../../lib/di/container.js";
import { construct } from "../../lib/testing/construct.js";

abstract class LinkStore {
  abstract find(id: string): string | undefined;
}

class SqlLinks extends LinkStore {
  constructor(readonly url: string) {
    super();
  }

  override find(id: string): string | undefined {
    return `${this.url}/${id}`;
  }
}

class Unrelated {
  readonly unrelated = 1;
}

class WrongResult {
  find(_id: string): number {
    return 1;
  }
}

class WrongParameter {
  find(_id: number): string {
    return "";
  }
}

interface Mailer {
  send(to: string): void;
}

const MailerToken = token<Mailer>("mailer");
const Greeting = token<string>("greeting");
const Maybe = token<string | undefined>("maybe");

export const fitting = [
  provide(LinkStore).useClass(SqlLinks),
  provide(LinkStore).useValue(new SqlLinks("x")),
  provide(LinkStore).useValue({ find: () => undefined }),
  provide(LinkStore).useFactory((resolve) => new SqlLinks(resolve(Greeting))),
  provide(SqlLinks).useClass(SqlLinks),
  provide(MailerToken).useValue({ send: () => undefined }),
  provide(Greeting).useFactory(() => "hello"),
  provide(Maybe).useValue(undefined),
];

// @ts-expect-error the class is not a LinkStore
provide(LinkStore).useClass(Unrelated);
// @ts-expect-error its find returns a number
provide(LinkStore).useClass(WrongResult);
// @ts-expect-error its find takes a number
provide(LinkStore).useClass(WrongParameter);
// @ts-expect-error an abstract class cannot be built
provide(LinkStore).useClass(LinkStore);
// @ts-expect-error an instance is a value, not a class
provide(LinkStore).useClass(new SqlLinks("x"));

// @ts-expect-error the value has another type
provide(LinkStore).useValue(new Unrelated());
// @ts-expect-error the class is not an instance of itself
provide(LinkStore).useValue(SqlLinks);
// @ts-expect-error undefined is not a LinkStore
provide(LinkStore).useValue(undefined);
// @ts-expect-error the token is for strings
provide(Greeting).useValue(7);
// @ts-expect-error send is missing
provide(MailerToken).useValue({});

// @ts-expect-error the factory returns another type
provide(LinkStore).useFactory(() => new Unrelated());
// @ts-expect-error the factory returns a promise
provide(LinkStore).useFactory(async () => new SqlLinks("x"));
// @ts-expect-error resolve returns the type of its token
provide(LinkStore).useFactory((resolve) => new SqlLinks(resolve(LinkStore)));

// @ts-expect-error a string is not a token: two equal strings would collide
provide("greeting");
// @ts-expect-error a symbol has no type for the value
provide(Symbol("greeting"));
// @ts-expect-error a function is not a class
provide(() => new SqlLinks("x"));

// @ts-expect-error an abstract class needs a binding to a class, value or factory
Module({ providers: [LinkStore] });
// @ts-expect-error an instance needs a binding to a token
Module({ providers: [new SqlLinks("x")] });
// @ts-expect-error the token is exported, not the binding
Module({ exports: [provide(Greeting).useValue("hello")] });
// @ts-expect-error a class without handle is not a middleware
Module({ middleware: [Unrelated] });
// @ts-expect-error a module is a class
Module({ imports: [{}] });

@Module({
  providers: [SqlLinks, provide(LinkStore).useClass(SqlLinks)],
  exports: [LinkStore, Greeting],
  middleware: [(_ctx, next) => next()],
})
export class FittingModule {}

// @ts-expect-error only classes are injectable
Injectable()({});

export function resolved(container: Container): readonly [LinkStore, string, string | undefined] {
  return [container.get(LinkStore), container.in(FittingModule).get(Greeting), container.get(Maybe)];
}

export function mistyped(container: Container): number {
  // @ts-expect-error a look-up has the type of its token
  return container.get(Greeting);
}

class Injecting {
  private readonly mailer = inject(MailerToken);

  constructor(
    readonly store = inject(LinkStore),
    readonly greeting = inject(Greeting),
    readonly limit = 10,
  ) {
    this.mailer.send(store.find("a") ?? greeting);
  }
}

export const injected: readonly [LinkStore, string, number] = [
  new Injecting(new SqlLinks("x")).store,
  new Injecting().greeting,
  new Injecting(undefined, "hello", 3).limit,
];
export const constructed: Injecting = construct(Injecting, provide(LinkStore).useClass(SqlLinks));

// @ts-expect-error the argument is not a LinkStore
export const refused = new Injecting(new Unrelated());
// @ts-expect-error a string is no token
inject("store");
// @ts-expect-error a value of the token is no string
export const misread: string = inject(MailerToken);
// @ts-expect-error an instance is no binding
construct(Injecting, new SqlLinks("x"));
// @ts-expect-error an abstract class cannot be constructed
construct(LinkStore);
