/**
 * The statuses with which the framework may refuse a request before its handler: by the stages that are on, by the router, by the guards
 * and by the contract of the route. Not those of handlers and of middleware, whose code decides.
 */
import type { Application } from "../../app/application.js";
import { isSafeMethod } from "../../endpoints/method.js";
import type { Slot } from "../../pipeline/table.js";
import type { RouteDescriptor } from "../../routing/route.js";
import { TimeoutLayer } from "../../stages/timeout.js";

export interface PossibleRefusal {
  readonly status: number;
  /** The stage, the guard or the contract. */
  readonly by: string;
  readonly when: string;
}

export interface RefusedRequest {
  readonly method: string;
  readonly route: RouteDescriptor | undefined;
  /** Whether a route has the path. */
  readonly hasTemplate: boolean;
}

/** In the order in which the request meets them. */
export function listRefusals(application: Application, request: RefusedRequest): readonly PossibleRefusal[] {
  const on = new Set(
    application
      .pipeline()
      .filter((row) => row.on)
      .map(({ slot }) => slot),
  );
  const stages = STAGE_REFUSALS.filter(({ by }) => on.has(by)).flatMap((refusal) =>
    adapt(refusal, application, request),
  );
  return [...stages, ...listRouteRefusals(request)];
}

interface StageRefusal extends PossibleRefusal {
  readonly by: Slot;
}

const STAGE_REFUSALS: readonly StageRefusal[] = [
  { status: 400, by: "proxy", when: "its function rewrites to a target that is none; it may respond with any status" },
  { status: 500, by: "catchPanic", when: "an error is not handled" },
  { status: 413, by: "bodyLimit", when: "the body is larger than the limit" },
  { status: 408, by: "timeout", when: "the handler takes longer than the limit" },
  { status: 503, by: "maintenance", when: "the maintenance is on, or the application starts" },
  { status: 429, by: "rateLimit", when: "the client has used up its quota" },
  { status: 403, by: "csrf", when: "the request does not come from a page of this site" },
];

/** The refusal as this request may meet it; none where it cannot. */
function adapt(
  refusal: StageRefusal,
  application: Application,
  { method, route }: RefusedRequest,
): readonly StageRefusal[] {
  const { by } = refusal;
  if (by === "timeout") return [{ ...refusal, status: getTimeoutStatus(application) }];
  if (by !== "csrf") return [refusal];
  if (isSafeMethod(method) || route?.csrf === "exempt") return [];
  const withoutToken: StageRefusal = { status: 401, by, when: "it has no bearer token either" };
  return route?.bearer === true ? [refusal, withoutToken] : [refusal];
}

function getTimeoutStatus(application: Application): number {
  const [layer] = application.layersAt("timeout");
  return (layer instanceof TimeoutLayer ? layer.status : undefined) ?? 408;
}

function listRouteRefusals({ route, hasTemplate }: RefusedRequest): readonly PossibleRefusal[] {
  if (route === undefined && hasTemplate)
    return [{ status: 405, by: "router", when: "always: no route has the method" }];
  if (route === undefined) return [{ status: 404, by: "router", when: "no route and no file has the path" }];
  const { guards = [], params, query, headers, body, idempotent } = route.contract ?? {};
  const ofGuards = guards.flatMap(({ definition: { name, refusals } }) =>
    refusals.map((status) => ({ status, by: `guard ${name}`, when: "its method on the server refuses" })),
  );
  const parts = Object.entries({ params, query, headers, body })
    .filter(([, part]) => part !== undefined)
    .map(([name]) => name);
  const by = "contract";
  return [
    ...ofGuards,
    ...(body === undefined ? [] : [{ status: 415, by, when: "the body has another media type" }]),
    ...(parts.length === 0 ? [] : [{ status: 422, by, when: `its schemas refuse ${parts.join(", ")}` }]),
    ...(idempotent === undefined ? [] : [{ status: 409, by, when: "another request has the key" }]),
  ];
}
