/**
 * Every fault of `inject`, printed as one line each: its name, then code, message, place and fix, or for an error outside a construction the
 * innermost place of its stack. It is compiled as legacy and as standard decorators, so all classes but one inject by `inject`.
 */
import {
  Application,
  type Class,
  Controller,
  FrameworkError,
  Get,
  inject,
  Injectable,
  Module,
  provide,
  StartupError,
  token,
} from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
// oxlint-disable-next-line import/no-cycle -- the cycle is the fault.
import { tokens } from "./tokens.js";

function attempt(fault: string, call: () => unknown): void {
  try {
    call();
    console.log(`${fault}: none`);
  } catch (error) {
    printError(fault, error);
  }
}

function printError(fault: string, error: unknown): void {
  if (!(error instanceof FrameworkError)) throw error;
  const rows =
    error instanceof StartupError
      ? error.diagnostics.map(({ code, what, where, fix }) => `${code} ${what} | ${where} | ${fix}`)
      : [`${error.code} ${error.message} | ${findPlace(error)}`];
  for (const [at, row] of rows.entries()) console.log(`${nameRow(fault, at, rows.length)}: ${row}`);
}

function nameRow(fault: string, at: number, length: number): string {
  return length === 1 ? fault : `the ${at === 0 ? "first" : "second"} of ${fault}`;
}

/** The program is one file, in a bundle too, where the stack has the names of the sources. */
function findPlace({ stack = "" }: Error): string {
  return /[^( ]*main\.[a-z]+:\d+:\d+/.exec(stack)?.[0] ?? "";
}

class Store {}

try {
  inject(Store);
} catch (error) {
  printError("at module level", error);
}

function seed(): Store {
  return inject(Store);
}

try {
  seed();
} catch (error) {
  printError("in a function that a module calls", error);
}

attempt("in a static member", () => {
  class Links {
    static readonly store = inject(Store);
  }
  return Links;
});

// A token of `let` or `const` would end the loading of tokens.ts.
// oxlint-disable-next-line no-var
export var Late = token<string>("Late");
const Missing = token<string>("Missing");
const Secret = token<string>("Secret");

class NeedsMissing {
  constructor(readonly missing = inject(Missing)) {}
}

@Module({ providers: [provide(Secret).useValue("hidden")] })
class Vault {}

class NeedsSecret {
  readonly secret = inject(Secret);
}

class First {
  readonly second: Second = inject(Second);
}

class Second {
  constructor(readonly first = inject(First)) {}
}

class Both {
  readonly missing = inject(Missing);
  constructor(readonly store = inject(Store)) {}
}

class NeedsLate {
  readonly late = inject(tokens.late);
}

interface Named {
  readonly name: string;
}

@Injectable()
class Typed {
  constructor(readonly named: Named) {}
}

const Opened = token<Promise<Store>>("Opened");

async function open(): Promise<Store> {
  await Promise.resolve();
  return inject(Store);
}

class Waiting {
  readonly opened = open().catch((error: unknown) => printError("after an await", error));
}

@Controller("/")
class LinksController {
  readonly waiting = inject(Waiting);

  @Get("/")
  index() {
    attempt("in a handler", () => inject(Store));
    return "";
  }
}

class Outer {
  readonly links = new NeedsMissing();
}

@Module({ providers: [NeedsMissing] })
class OfMissing {}

@Module({ imports: [Vault], providers: [NeedsSecret] })
class OfSecret {}

@Module({ providers: [First, Second] })
class OfCycle {}

@Module({ providers: [Both] })
class OfBoth {}

@Module({ providers: [NeedsLate] })
class OfLate {}

@Module({ providers: [Typed] })
class OfTyped {}

@Module({ providers: [Store, provide(Opened).useFactory(open)] })
class OfFactory {}

@Module({ controllers: [LinksController], providers: [Store, Waiting] })
class Links {}

async function main(): Promise<void> {
  const modules: Readonly<Record<string, Class>> = {
    "a missing token": OfMissing,
    "a hidden token": OfSecret,
    "a cycle": OfCycle,
    "two in one class": OfBoth,
    "a cycle of imports": OfLate,
    "an erased type": OfTyped,
    "in the asynchronous part of a factory": OfFactory,
    "another copy": await createModuleOfCopy(),
  };
  for (const [fault, root] of Object.entries(modules)) attempt(fault, () => Application.create(root).build());
  attempt("by new", () => new Outer());
  const app = await testApp(Links);
  await app.get("/");
  await app.stop();
}

/** The entry point of another copy of the package. */
type Copy = typeof import("@stagecraft/framework");

async function createModuleOfCopy(): Promise<Class> {
  const copy = (await import(process.env["OTHER_COPY"] ?? "")) as Copy;
  class OfCopy {
    readonly store = copy.inject(Store);
  }
  @Module({ providers: [Store, OfCopy] })
  class Root {}
  return Root;
}

void main();
