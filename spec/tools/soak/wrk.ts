/** `wrk` on a server whose processes are killed: what it received, and what it lost. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface WrkOptions {
  readonly port: number;
  readonly path: string;
  readonly seconds: number;
  readonly connections: number;
}

export interface WrkFigures {
  readonly responses: number;
  /** Connections that were not accepted. */
  readonly refused: number;
  /** Connections that ended without the response that they owed. */
  readonly cut: number;
  /** Responses that took longer than a minute. */
  readonly overdue: number;
  /** Responses other than 2xx and 3xx. */
  readonly failed: number;
}

export async function startWrk({ port, path, seconds, connections }: WrkOptions): Promise<WrkFigures> {
  const flags = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "60s"];
  const { stdout } = await run("wrk", [...flags, `http://127.0.0.1:${port}${path}`]);
  const count = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1] ?? 0);
  return {
    responses: count(/(\d+) requests in /),
    refused: count(/connect (\d+),/),
    cut: count(/read (\d+),/) + count(/write (\d+),/),
    overdue: count(/timeout (\d+)/),
    failed: count(/Non-2xx or 3xx responses: (\d+)/),
  };
}
