/**
 * The seven conventional actions on resources that are listed, shown and changed, as a table of endpoints. A method of its
 * controller handles the action of the same name. There is no PATCH; for other actions use a table (`routes`).
 *
 * @example
 * const photos = resource("photos", "/photos", { only: ["index", "show", "destroy"] });
 * photos.show.url(7); // "/photos/7"
 */
import { checkOptionNames } from "../errors/option-names.js";
import type { Diagnostic, Warning } from "../errors/diagnostic.js";
import { createEndpoint, type Endpoint } from "./endpoint.js";
import type { AddsOf } from "./contract.js";
import { registerTable, withGuards } from "./endpoint-table.js";
import { toUsedGuards, type GuardList } from "./guard.js";
import type { ResourceMark } from "./handler.js";
import { joinPaths } from "./filled-path.js";
import { requirePathText, type Join } from "./path.js";
import { ACTIONS } from "./resource-actions.js";
import { pickRouteOptions, ROUTE_OPTIONS, type RouteOptions } from "./route-options.js";

// The keys of the constant.
const ACTION_NAMES = Object.keys(ACTIONS) as readonly ResourceAction[];

type Actions = typeof ACTIONS;

export type ResourceAction = keyof Actions;

/**
 * `only` keeps actions, `except` removes actions. Where both are given, `except` removes from the actions that `only` keeps. `csrf` and
 * `bearer` apply to every action.
 */
export interface ResourceOptions<
  Only extends ResourceAction,
  Except extends ResourceAction,
  G extends GuardList = GuardList,
> extends RouteOptions {
  readonly only?: readonly Only[];
  readonly except?: readonly Except[];
  /** The guards of every action. */
  readonly guards?: G;
}

/** @typeParam Adds the values that the guards add to the context */
export type Resource<P extends string, A extends ResourceAction, Adds = unknown> = ResourceMark & {
  readonly [K in A]: Endpoint<Join<P, Actions[K]["path"]>, object, Adds>;
};

export function resource<
  const P extends string,
  const Only extends ResourceAction = ResourceAction,
  const Except extends ResourceAction = never,
  const G extends GuardList = readonly [],
>(
  name: string,
  path: P,
  options: ResourceOptions<Only, Except, G> = {},
): Resource<P, Exclude<Only, Except>, AddsOf<{ readonly guards: G }>> {
  const place = `resource("${name}")`;
  checkOptionNames(options, { only: true, except: true, guards: true, ...ROUTE_OPTIONS }, place);
  const contract = withGuards(undefined, toUsedGuards(options.guards, place));
  const actions = [...(options.only ?? []), ...(options.except ?? [])];
  const diagnostics = [...findMissingName(name, path), ...findUnknownActions(name, actions)];
  const start = requirePathText(path, `the resource "${name}"`);
  const endpoints = selectActions(options).map((action) => {
    const { method, path: end } = ACTIONS[action];
    const endpointOptions = { name: `${name}.${action}`, ...pickRouteOptions(options) };
    return [action, createEndpoint(method, joinPaths(start, end), endpointOptions, { contract })] as const;
  });
  const entries = new Map(endpoints);
  const warnings = findEmptyResource(name, entries.size);
  const table: object = registerTable({ name, entries, isHandledByName: true, diagnostics, warnings });
  // The type computes the same actions; the mark exists for the compiler only.
  return table as Resource<P, Exclude<Only, Except>, AddsOf<{ readonly guards: G }>>;
}

function selectActions({ only, except }: ResourceOptions<ResourceAction, ResourceAction>): readonly ResourceAction[] {
  return ACTION_NAMES.filter((action) => (only?.includes(action) ?? true) && except?.includes(action) !== true);
}

function findUnknownActions(name: string, given: readonly string[]): readonly Diagnostic[] {
  const unknown = given.filter((action) => !Object.hasOwn(ACTIONS, action));
  return unknown.map((action) => ({
    code: "E_RESOURCE_ACTION",
    what: `"${action}" is not an action of a resource`,
    where: `resource("${name}")`,
    fix: `use one of ${ACTION_NAMES.join(", ")}`,
  }));
}

function findMissingName(name: string, path: string): readonly Diagnostic[] {
  if (name !== "") return [];
  const what = 'a resource has an empty name, so that its routes would be named ".index", ".show" and so on';
  return [{ code: "E_RESOURCE_NAME", what, where: `resource("", "${path}")`, fix: "give it a name" }];
}

function findEmptyResource(name: string, actions: number): readonly Warning[] {
  if (actions > 0) return [];
  const message = 'a resource keeps no action: it has no routes; list actions in "only", or leave it out';
  return [{ message, fields: { resource: name } }];
}
