/**
 * The places of functions in their JavaScript. The engine knows them, and tells them to its inspector alone: so a program records nothing for
 * a command that explains it.
 */
import { Session } from "node:inspector";
import { isLibraryFrame } from "../../errors/setup-error.js";

/** How many times `bind` may have bound a function; one that is bound more often has no place. */
const MAX_BOUND = 5;

/** @returns `file:///…/app.js:3:7` for each function; `undefined` for a function of the framework, of Node or of the engine */
export function findFunctionPlaces(functions: readonly unknown[]): readonly (string | undefined)[] {
  const session = new Session();
  session.connect();
  const urls = new Map<string, string>();
  session.on("Debugger.scriptParsed", ({ params }) => void urls.set(params.scriptId, params.url));
  session.post("Debugger.enable");
  // An expression is the only way to name a value to the inspector.
  const name = `stagecraft ${Math.random()}`;
  try {
    return functions.map((each) => {
      Reflect.set(globalThis, name, each);
      const place = findPlace(session, `globalThis[${JSON.stringify(name)}]`, urls);
      return place === undefined || isLibraryFrame(place) === true ? undefined : place;
    });
  } finally {
    Reflect.deleteProperty(globalThis, name);
    session.disconnect();
  }
}

function findPlace(session: Session, expression: string, urls: ReadonlyMap<string, string>): string | undefined {
  let place: string | undefined;
  let objectId: string | undefined;
  session.post("Runtime.evaluate", { expression }, (_, { result }) => (objectId = result.objectId));
  for (let depth = 0; depth <= MAX_BOUND && objectId !== undefined; depth++) {
    const asked: string = objectId;
    objectId = undefined;
    session.post(
      "Runtime.getProperties",
      { objectId: asked, ownProperties: true },
      (_, { internalProperties = [] }) => {
        const values = new Map(internalProperties.map((each) => [each.name, each.value]));
        objectId = values.get("[[TargetFunction]]")?.objectId;
        place = toPlace(values.get("[[FunctionLocation]]")?.value, urls);
      },
    );
  }
  return place;
}

/** The inspector counts lines and columns from 0. */
function toPlace(location: unknown, urls: ReadonlyMap<string, string>): string | undefined {
  const { scriptId, lineNumber, columnNumber } = Object(location);
  const url = urls.get(scriptId);
  return url?.startsWith("file:") === true ? `${url}:${lineNumber + 1}:${columnNumber + 1}` : undefined;
}
