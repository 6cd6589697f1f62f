/** Sessions and CSRF protection of an application under test, found in its pipeline. Tests use `TestApp`, which has the clients. */
import type { Application } from "../app/application.js";
import type { Clock } from "../runtime/clock.js";
import { CsrfLayer } from "../stages/csrf/csrf-layer.js";
import { SessionCookie } from "../stages/session/session-cookie.js";
import { SessionLayer } from "../stages/session/session-layer.js";
import { storeKey } from "../stages/session/session.js";
import { textOfValue } from "../stages/session/session-value.js";
import { failure } from "./failure.js";
import type { CsrfNames } from "./test-client.js";

/** The names of the CSRF cookie and header; `undefined` without the protection. */
export function namesOf(application: Application): CsrfNames | undefined {
  const [layer] = application.layersAt("csrf");
  return layer instanceof CsrfLayer ? layer.names : undefined;
}

/**
 * Creates a session in the application's store. Returns the `Set-Cookie` line of its cookie.
 *
 * @throws AssertionError if the application has no sessions
 */
export async function beginSession(
  application: Application,
  clock: Clock,
  values: Readonly<Record<string, unknown>>,
): Promise<string> {
  const [layer] = application.layersAt("session");
  if (!(layer instanceof SessionLayer)) throw failure("the application has no sessions: turn them on with .session(…)");
  const { cookie, store, idleMs, absoluteMs } = layer.settings;
  const id = SessionCookie.newId();
  const texts = new Map(Object.entries(values).map(([name, value]) => [name, textOfValue(name, value)]));
  const now = clock.now();
  await store.create(storeKey(id), texts, { now, startedAt: now, idleMs, absoluteMs });
  return cookie.line(id, Math.min(idleMs, absoluteMs));
}
