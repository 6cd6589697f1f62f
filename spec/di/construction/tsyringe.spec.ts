/** tsyringe keeps the instances of an application: this spec reads them from the child container that a build creates. */
import { expect } from "chai";
import {
  AppConfig,
  Application,
  Clock,
  Controller,
  Get,
  Injectable,
  Module,
  provide,
  token,
} from "@stagecraft/framework";
import { LogSink, Metrics } from "@stagecraft/framework/observe";
import { Telemetry } from "@stagecraft/framework/observe/otel";
import type { InjectionToken } from "../../../lib/di/token.js";
import { inspect } from "../../../lib/di/graph.js";
// The framework loads reflect-metadata, which tsyringe needs.
import { container as globalContainer, type DependencyContainer, type InjectionToken as Key } from "tsyringe";

const Nothing = token<undefined>("Nothing");
const Answer = token<number>("Answer");
const Alias = token<Store>("Alias");

class Store {
  dispose(): void {
    disposed += 1;
  }
}

/** A class without a constructor: tsyringe itself would call it without arguments. */
@Injectable()
class Reader {
  constructor(
    readonly store: Store,
    readonly metrics: Metrics,
    readonly sink: LogSink,
  ) {}
}
class CountingReader extends Reader {}

@Controller("/")
class ReaderController {
  constructor(readonly reader: CountingReader) {}

  @Get("/")
  show() {}
}

@Module({ providers: [Store, provide(Answer).useValue(1)], exports: [Store] })
class Inner {}

@Module({
  imports: [Inner],
  controllers: [ReaderController],
  providers: [
    CountingReader,
    provide(Alias).useClass(Store),
    provide(Answer).useValue(2),
    provide(Nothing).useFactory(() => undefined),
    provide(Telemetry).useFactory(() => Telemetry.builder("shop").endpoint("http://127.0.0.1:9").build()),
  ],
})
class Root {}

const TOKENS: readonly InjectionToken[] = [
  Metrics,
  LogSink,
  Telemetry,
  AppConfig,
  Clock,
  ReaderController,
  CountingReader,
  Store,
  Alias,
];

let disposed = 0;

/** The keys that `build` registers, and the child container of tsyringe that has them. */
function watchBuild<T>(build: () => T): {
  readonly built: T;
  readonly child: DependencyContainer;
  readonly keys: Key[];
} {
  const create = globalContainer.createChildContainer.bind(globalContainer);
  const children: DependencyContainer[] = [];
  const keys: Key[] = [];
  globalContainer.createChildContainer = () => {
    const child = create();
    const register = child.register.bind(child);
    child.register = (key: Key, provider: never) => (keys.push(key), register(key, provider));
    children.push(child);
    return child;
  };
  try {
    const built = build();
    return { built, child: children[0] ?? expect.fail("no child container"), keys };
  } finally {
    globalContainer.createChildContainer = create;
  }
}

describe("tsyringe", () => {
  it("keeps every instance of an application", () => {
    const { built, child, keys } = watchBuild(() => Application.create(Root).metrics().build());

    const kept = keys.map((key) => child.resolve(key));

    for (const each of TOKENS) expect(kept).to.include(built.resolve(each));
    expect(kept.filter((each) => each instanceof Store)).to.have.lengthOf(2);
    expect(kept).to.include.members([1, 2]);
    expect(keys.map((key) => child.resolve(key))).to.have.ordered.members(kept);
  });

  it("keeps every instance that the container lists", () => {
    const { built, child, keys } = watchBuild(() => inspect({ root: Inner }).build());

    expect(built.instances()).to.have.lengthOf(3);
    expect(built.instances()).to.have.ordered.members(keys.map((key) => child.resolve(key)));
  });

  it("builds an instance when a default is resolved for the first time", () => {
    let runs = 0;
    const defaults = [provide(Answer).useFactory(() => (runs += 1))];
    const { built, child, keys } = watchBuild(() => inspect({ defaults }).build());
    const before = runs;

    expect([built.get(Answer), built.get(Answer), ...keys.map((key) => child.resolve(key))]).to.deep.equal([1, 1, 1]);
    expect([before, runs]).to.deep.equal([0, 1]);
  });

  it("disposes of no instance: the container does, once", async () => {
    disposed = 0;
    const { built } = watchBuild(() => inspect({ root: Inner }).build());

    await built.dispose();

    expect(disposed).to.equal(1);
  });

  it("gives a class without a constructor the arguments of its parent", () => {
    const { built } = watchBuild(() => Application.create(Root).build());

    expect(built.resolve(CountingReader)).to.include({ store: built.resolve(Store), metrics: built.resolve(Metrics) });
  });
});
