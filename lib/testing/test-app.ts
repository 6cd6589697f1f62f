/**
 * An application under test on a real socket of 127.0.0.1. Subsystems start and stop as with `run()`. There are no signal listeners and
 * there is no process-wide log subscriber; the log lines are in `app.logs`. A unit test does not need this: call the constructor, or
 * use `context()`.
 *
 * @example
 * await using app = await testApp(ShopModule, provide(LinkStore).useValue(new NoLinks()));
 * const response = await app.get("/links/7");
 */
import { Application, type StartedApplication } from "../app/application.js";
import { ApplicationBuilder } from "../app/builder.js";
import type { Binding } from "../di/provide.js";
import type { InjectionToken } from "../di/token.js";
import type { Class } from "../runtime/class.js";
import type { InFlightRequest } from "../http/connection/connection.js";
import type { CaptureSink } from "../observe/logging/sink.js";
import { Clock } from "../runtime/clock.js";
import { CsrfLayer } from "../stages/csrf/csrf-layer.js";
import { CapturedTracing } from "./captured-tracing.js";
import { CookieJar } from "./cookie-jar.js";
import { createAccessToken } from "./test-access-token.js";
import { createFailure } from "./failure.js";
import { advanceInRealTime } from "./fake-clock.js";
import { rawExchange, type RawOptions } from "./raw-exchange.js";
import { type CsrfNames, TestClient } from "./test-client.js";
import {
  createSession,
  findSignedInValues,
  type ActingOptions,
  type ActingUser,
  createTestToken,
  serializeValues,
  TokenClient,
} from "./test-session.js";
import { Transport } from "./transport.js";

/** How long requests in flight may take after the end of the test. */
const STOP_DEADLINE_MS = 2000;

/**
 * Builds and starts the application of a module or of a builder. Each binding in `overrides` replaces a provider. An override that
 * no class injects is refused, because it would have no effect on the test.
 *
 * @throws StartupError if the application does not build, or a subsystem does not start.
 */
export async function testApp(root: Class | ApplicationBuilder, ...overrides: readonly Binding[]): Promise<TestApp> {
  const captured = new CapturedTracing();
  return captured.run(async () => {
    const builder = root instanceof ApplicationBuilder ? root : Application.create(root);
    const application = builder
      .testDefaults(...captured.defaultBindings())
      .testOverrides(...overrides)
      .build();
    captured.useClock(application.resolve(Clock));
    return new TestApp(application, await application.start(), captured);
  });
}

export class TestApp extends TestClient implements AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Every event of the application from level TRACE on, as lines of JSON. */
  readonly logs: CaptureSink;
  private stopping: Promise<void> | undefined;

  /** @internal Use `testApp`. */
  constructor(
    readonly application: Application,
    private readonly started: StartedApplication,
    /** @internal */
    readonly captured: CapturedTracing,
  ) {
    super(new Transport(getPort(started)), application.resolve(Clock));
    this.url = started.url;
    this.logs = captured.sink;
  }

  /** Resolves an instance from the application's container, as the root module sees it. */
  resolve<T>(token: InjectionToken<T>): T {
    return this.application.resolve(token);
  }

  /**
   * A client with separate cookies that sends the CSRF token with every unsafe request, as the script of a page does. A request that sets
   * the header itself is sent as it is.
   *
   * @throws AssertionError if the application has no CSRF protection
   */
  withCsrf(): TestClient {
    const csrf = findCsrfNames(this.application);
    if (csrf === undefined) throw createFailure("the application has no CSRF protection: add it with .csrf(…)");
    return new TestClient(this.transport, this.clock, new CookieJar(this.clock), csrf);
  }

  /**
   * A client with a session that holds these values, for example that of a visitor who has signed in. It keeps its cookies, and sends the
   * CSRF token if the application has the protection.
   *
   * @throws AssertionError if the application has no sessions
   * @example
   * const ada = await app.withSession({ account: "ada" });
   */
  async withSession(values: Readonly<Record<string, unknown>>): Promise<TestClient> {
    return this.createClient(serializeValues(values));
  }

  /**
   * A client of a user who has signed in and given the password just now, for the guards of `@stagecraft/framework/auth/guards`. If the user
   * has an identity, its address and its changes of the password count; without one the session stays until it expires.
   *
   * With `scopes` it is a program that acts for the user: it sends an API token with these scopes, and no cookies. With `issuer` the token is
   * an access token of this issuer for the guard `bearer`, valid for an hour: the test signs it, and all rules of the application count.
   *
   * @throws AssertionError if the application has no sessions, or a double verifies the tokens of the issuer; ResolutionError if it has no
   * `authDatabase(…)`, or neither `tokenVerification(…)` nor `tokenIssuing(…)` of the issuer
   * @example
   * const ada = await app.actingAs("user-7");
   * expect((await ada.get("/account")).status).to.equal(200);
   * const program = await app.actingAs("user-7", { scopes: ["links:read"] });
   * const till = await app.actingAs("user-7", { issuer: company, scopes: ["orders:read"] });
   */
  async actingAs(user: string | ActingUser, options: ActingOptions = {}): Promise<TestClient> {
    const acting = typeof user === "string" ? { userId: user } : user;
    const { issuer, scopes } = options;
    if (issuer !== undefined) {
      const given = { ...options, issuer };
      return this.createTokenClient(createAccessToken(this.application, this.clock, acting.userId, given));
    }
    if (scopes !== undefined) return this.createTokenClient(createTestToken(this.application, acting.userId, scopes));
    return this.createClient(await findSignedInValues(this.application, this.clock, acting));
  }

  private async createTokenClient(text: Promise<string>): Promise<TestClient> {
    return new TokenClient(this.transport, this.clock, await text);
  }

  private async createClient(values: ReadonlyMap<string, string>): Promise<TestClient> {
    const jar = new CookieJar(this.clock);
    jar.store(await createSession(this.application, this.clock, values), "/");
    return new TestClient(this.transport, this.clock, jar, findCsrfNames(this.application));
  }

  /**
   * Writes the bytes to a new connection and resolves to the bytes of the response. `RawOptions` says when the response counts as complete.
   */
  raw(bytes: string | Uint8Array, options?: RawOptions): Promise<Buffer> {
    return rawExchange(getPort(this.started), bytes, options);
  }

  /**
   * Drains and stops the application, without the drain delay. A second call returns the same promise.
   *
   * @throws AssertionError naming the requests that had no response after 2 s.
   */
  stop(): Promise<void> {
    return (this.stopping ??= this.stopOnce());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A test that called `stop()` has already received its error.
    if (this.stopping === undefined) await this.stop();
    else await this.stopping.catch(() => {});
  }

  private async stopOnce(): Promise<void> {
    this.transport.destroyUnread();
    const { forced, cut } = await this.captured.run(() =>
      advanceInRealTime(this.clock, () => this.started.stopWithin(STOP_DEADLINE_MS)),
    );
    if (forced > 0) throw createStopError(forced, cut);
  }
}

function getPort({ address }: StartedApplication): number {
  // `Application.start()` listens on TCP, so the address is an object.
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}

function createStopError(forced: number, cut: readonly InFlightRequest[]): Error {
  const requests = cut.map(({ incoming: { method, url } }) => `${String(method)} ${String(url)}`);
  const what = requests.length === 0 ? "they carried no request" : `without a response: ${requests.join(", ")}`;
  const message = `the application stopped with ${forced} connection(s) destroyed after ${STOP_DEADLINE_MS} ms; ${what}`;
  return createFailure(message, { expected: [], actual: requests });
}

/** The names of the CSRF cookie and header; `undefined` without the protection. */
function findCsrfNames(application: Application): CsrfNames | undefined {
  const [layer] = application.layersAt("csrf");
  return layer instanceof CsrfLayer ? layer.names : undefined;
}
