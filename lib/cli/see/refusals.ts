/**
 * The statuses with which the framework may refuse a request before its handler: by the stages that are on, by the router, and by the
 * guards, the limits and the contract of the route. Not those of handlers and of the middleware of the program, whose code decides.
 */
import type { Application } from "../../app/application.js";
import { isSafeMethod } from "../../endpoints/method.js";
import type { Slot } from "../../pipeline/table.js";
import { getMiddlewareName } from "../../http/middleware.js";
import { isMiddlewareClass } from "../../routing/middleware.js";
import type { TableRow } from "../../routing/route-table.js";
import { BodyLimitLayer } from "../../stages/body-limit.js";
import { RateLimit } from "../../stages/rate-limit/rate-limit.js";
import { TimeoutLayer } from "../../stages/timeout.js";

export interface PossibleRefusal {
  readonly status: number;
  /** The stage, the guard, the middleware or the contract. */
  readonly by: string;
  readonly when: string;
}

export interface RefusedRequest {
  readonly method: string;
  readonly row: TableRow | undefined;
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
  return [...stages, ...listRouteRefusals(request, getTimeoutStatus(application))];
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
  { method, row }: RefusedRequest,
): readonly StageRefusal[] {
  const { by } = refusal;
  const route = row?.route.descriptor;
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

/** @param timeout the status of a timeout on the route that names none */
function listRouteRefusals({ method, row, hasTemplate }: RefusedRequest, timeout: number): readonly PossibleRefusal[] {
  const by = "router";
  if (row === undefined && hasTemplate) return [{ status: 405, by, when: "always: no route has the method" }];
  if (row === undefined) return [{ status: 404, by, when: "no route and no file has the path" }];
  const ofMethod = method === "QUERY" ? [{ status: 400, by, when: "it has no Content-Type" }] : [];
  return [...ofMethod, ...listGuardRefusals(row), ...listLimitRefusals(row, timeout), ...listContractRefusals(row)];
}

function listGuardRefusals({ route }: TableRow): readonly PossibleRefusal[] {
  const { guards = [] } = route.descriptor.contract ?? {};
  return guards.flatMap(({ definition: { name, refusals } }) =>
    refusals.map((status) => ({ status, by: `guard ${name}`, when: "its method on the server refuses" })),
  );
}

/** Of the limits of the framework among the middleware. */
function listLimitRefusals({ route, getInstance }: TableRow, timeout: number): readonly PossibleRefusal[] {
  let around = timeout;
  return route.around.flatMap((input) => {
    const layer = isMiddlewareClass(input) ? getInstance(input) : input;
    const by = getMiddlewareName(input);
    if (layer instanceof RateLimit) return [{ status: 429, by, when: "the client has used up the quota of the route" }];
    if (layer instanceof BodyLimitLayer)
      return [{ status: 413, by, when: "the body is larger than the limit of the route" }];
    if (!(layer instanceof TimeoutLayer)) return [];
    around = layer.status ?? around;
    return [{ status: around, by, when: "the handler takes longer than the limit of the route" }];
  });
}

function listContractRefusals({ route }: TableRow): readonly PossibleRefusal[] {
  const { params, query, headers, body, idempotent } = route.descriptor.contract ?? {};
  const parts = Object.entries({ params, query, headers, body })
    .filter(([, part]) => part !== undefined)
    .map(([name]) => name);
  const by = "contract";
  const key = idempotent?.required === true ? "is missing or not valid" : "is not valid";
  return [
    ...(body === undefined
      ? []
      : [
          { status: 415, by, when: "the body has another media type" },
          { status: 400, by, when: "the body cannot be read" },
          { status: 413, by, when: "the body is larger than its reader takes" },
        ]),
    ...(parts.length === 0 ? [] : [{ status: 422, by, when: `its schemas refuse ${parts.join(", ")}` }]),
    ...(idempotent === undefined
      ? []
      : [
          { status: 400, by, when: `Idempotency-Key ${key}` },
          { status: 409, by, when: "another request has the key and has no response yet" },
          { status: 422, by, when: "another request has used the key" },
        ]),
  ];
}
