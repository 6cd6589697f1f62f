/** What the contract of an endpoint adds to its schema, where the body is read and parsed already. */
import { getHandler } from "../../../../lib/contracts/contract-handler.js";
import { compileDeclaredMembers } from "../../../../lib/contracts/declared-members.js";
import { NoJsonSchema, readJsonSchema } from "../../../../lib/contracts/json-schema.js";
import { createInputReader } from "../../../../lib/contracts/request-input.js";
import { keepTexts } from "../../../../lib/contracts/wire-value.js";
import type { Context } from "../../../../lib/http/request/context.js";
import { ECHO_BODY } from "../fixtures.js";
import { Link } from "../link-schema.js";
import type { Comparison } from "./comparison.js";

const document: unknown = JSON.parse(ECHO_BODY);

export function contractComparisons(): readonly Comparison[] {
  const throughContract = createContractHandler();
  const leaveOut = createStripping();
  return [
    {
      what: "a body of 1 KiB, parsed and checked",
      contenders: [
        { name: "zod alone", run: repeat(() => Link.parse(document)) },
        { name: "zod after a promise", run: repeatAwaited(async () => Link.parse(await Promise.resolve(document))) },
        { name: "the contract of an endpoint", run: repeatAwaited(throughContract) },
      ],
    },
    {
      what: "members of a response left out",
      contenders: [
        { name: "JSON.stringify", run: repeat(() => JSON.stringify(document)) },
        { name: "with undeclared members left out", run: repeat(() => JSON.stringify(leaveOut())) },
      ],
    },
  ];
}

/** The reader of a body without the socket. */
function createContractHandler(): () => unknown {
  const readInput = createInputReader({
    params: new Map(),
    query: undefined,
    headers: undefined,
    body: [{ type: "application/json", schema: Link, convert: keepTexts, read: () => Promise.resolve(document) }],
  });
  const route = { handler: () => undefined, descriptor: { method: "POST", path: "/echo" } } as const;
  const ready = {
    guards: [],
    bodyTypes: [],
    readInput,
    checkResponse: undefined,
    watchThrown: undefined,
    runOnce: undefined,
  };
  const handler = getHandler(route, ready);
  // The reader needs this member alone.
  const ctx = { bindInput: () => undefined } as unknown as Context;
  return () => handler(ctx);
}

function createStripping(): () => unknown {
  const schema = readJsonSchema(Link, "input");
  if (schema instanceof NoJsonSchema) throw new Error(schema.reason);
  const leaveOut = compileDeclaredMembers(schema);
  return () => leaveOut(document, () => undefined);
}

function repeat(operation: () => unknown): (times: number) => void {
  return (times) => {
    for (let turn = 0; turn < times; turn += 1) operation();
  };
}

function repeatAwaited(operation: () => unknown): (times: number) => Promise<void> {
  return async (times) => {
    for (let turn = 0; turn < times; turn += 1) await operation();
  };
}
