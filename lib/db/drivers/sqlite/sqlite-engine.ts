/**
 * The engine: `node:sqlite` where it is complete (Node 22.16 or newer), else the package `@photostructure/sqlite`, which has the same
 * interface. Both are synchronous: a query blocks the process until it ends.
 */
import { expectPeer, requirePeer } from "../../../errors/optional-package.js";

export type SqliteValue = null | number | bigint | string | Uint8Array;

/** The used part of a prepared statement. */
export interface PreparedStatement {
  all(...binds: SqliteValue[]): unknown[];
  /** The first row; `undefined` without one. */
  get(...binds: SqliteValue[]): unknown;
  run(...binds: SqliteValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
  columns(): readonly { readonly name: string }[];
  setReturnArrays(isOn: boolean): void;
  setReadBigInts(isOn: boolean): void;
}

/** The used part of an open database. */
export interface SqliteHandle {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): PreparedStatement;
  close(): void;
}

interface Engine {
  readonly DatabaseSync: new (
    file: string,
    options: { readonly readOnly: boolean; readonly timeout: number },
  ) => SqliteHandle;
}

const PEER = {
  entry: "@stagecraft/framework/db/sqlite",
  name: "@photostructure/sqlite",
  from: "1.2.0",
  install: "@photostructure/sqlite@1",
};

const engine = loadBuiltInEngine() ?? loadPackage();

/** Opens the file, and creates it if it is missing. A lock of another process is an error at once. */
export function openHandle(file: string, readOnly: boolean): SqliteHandle {
  return new engine.DatabaseSync(file, { readOnly, timeout: 0 });
}

function loadBuiltInEngine(): Engine | undefined {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 16) || major === 23) return undefined;
  return withoutWarning(() => process.getBuiltinModule("node:sqlite")) as Engine | undefined;
}

/**
 * Node 22 and 24 write a warning to standard error when they load the module, because its interface may change. The framework uses a small
 * part of it, which is tested on every version, and a release build writes only JSON lines to standard error.
 */
function withoutWarning<T>(load: () => T): T {
  const warn = Reflect.get(process, "emitWarning");
  process.emitWarning = () => {};
  try {
    return load();
  } finally {
    process.emitWarning = warn;
  }
}

function loadPackage(): Engine {
  expectPeer(PEER);
  return requirePeer(PEER) as Engine;
}
