/** The check before the load: every contender sends the same response, otherwise the numbers would not compare. */

import { request as send, type IncomingHttpHeaders } from "node:http";
import type { BenchRequest } from "./load.js";

export interface Probe {
  /** The names of the contenders that are asked; unless set, all. */
  readonly of?: readonly string[];
  readonly request: BenchRequest;
  readonly status: number;
  /** The whole body, byte for byte, or a pattern; absent where the body differs by contender. */
  readonly body?: string | RegExp;
  /** Lower-case names, `a|b` where contenders name it differently; a text must be equal, a pattern must match. */
  readonly headers?: Readonly<Record<string, string | RegExp>>;
}

interface ProbeResponse {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** @throws Error naming the request and what differs. */
export async function assertResponses(name: string, port: number, probes: readonly Probe[]): Promise<void> {
  for (const probe of probes.filter(({ of }) => of?.includes(name) ?? true)) {
    const differences = compare(probe, await ask(port, probe.request));
    const { method, path } = probe.request;
    if (differences.length > 0) throw new Error(`${name} ${method} ${path}: ${differences.join("; ")}`);
  }
}

/** The requests with the cookies of the response to `signIn`, but for those that have cookies of their own. */
export async function withCookies(
  port: number,
  signIn: BenchRequest | undefined,
  requests: readonly BenchRequest[],
): Promise<readonly BenchRequest[]> {
  if (signIn === undefined) return requests;
  const { headers } = await ask(port, signIn);
  const cookie = (headers["set-cookie"] ?? []).map((line) => line.split(";", 1)[0]).join("; ");
  return requests.map((request) => ({ ...request, headers: { cookie, ...request.headers } }));
}

function compare(probe: Probe, response: ProbeResponse): readonly string[] {
  const wrongHeaders = Object.entries(probe.headers ?? {})
    .map(([names, wanted]) => ({ names, wanted, value: valueOf(names, response.headers) }))
    .filter(({ value, wanted }) => !fits(value, wanted))
    .map(({ names, value, wanted }) => `${names}: ${String(value)} instead of ${String(wanted)}`);
  return [
    ...(response.status === probe.status ? [] : [`status ${response.status} instead of ${probe.status}`]),
    ...(probe.body === undefined || fits(response.body, probe.body)
      ? []
      : [`body ${response.body} instead of ${String(probe.body)}`]),
    ...wrongHeaders,
  ];
}

function valueOf(names: string, headers: IncomingHttpHeaders): string | readonly string[] | undefined {
  const present = names.split("|").find((name) => headers[name] !== undefined);
  return present === undefined ? undefined : headers[present];
}

function fits(value: string | readonly string[] | undefined, wanted: string | RegExp): boolean {
  if (value === undefined) return false;
  const text = String(value);
  return typeof wanted === "string" ? text === wanted : wanted.test(text);
}

async function ask(port: number, { method, path, headers, body }: BenchRequest): Promise<ProbeResponse> {
  return new Promise((resolve, reject) => {
    const request = send({ host: "127.0.0.1", port, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        request.destroy();
        resolve({
          status: response.statusCode,
          headers: response.headers,
          body: Buffer.concat(chunks).toString("utf8"),
        });
      });
    });
    request.setTimeout(5000, () => request.destroy(new Error(`no response to ${method} ${path} within 5 s`)));
    request.on("error", reject);
    request.end(body);
  });
}
