/**
 * Requests to a provider, within bounds: a deadline, a number of bytes, no redirects. A provider that does not respond, or fails, is
 * unavailable, whatever the reason.
 */
import { ProviderUnavailableError } from "./provider-clients.js";

/** Of a response: keys, a profile, tokens. */
const MAX_BYTES = 262_144;

export interface ProviderRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export type ProviderFetch = (url: string, request?: ProviderRequest) => Promise<Response>;

/** @param signal the deadline of all requests together */
export function createProviderFetch(signal: AbortSignal): ProviderFetch {
  return async (url, { method = "GET", headers = {}, body } = {}) => {
    const response = await send(url, { method, headers, body, signal });
    const { status } = response;
    if (status >= 500 || status === 429) throw new ProviderUnavailableError(`status ${status}`);
    return response;
  };
}

async function send(url: string, request: ProviderRequest & { readonly signal: AbortSignal }): Promise<Response> {
  try {
    // openid-client sends texts and form fields.
    const body = request.body as RequestInit["body"];
    const response = await fetch(url, { ...request, body: body ?? null, redirect: "manual" });
    const { status, headers } = response;
    const bytes = await readBytes(response);
    return new Response(bytes.length === 0 ? null : Uint8Array.from(bytes), { status, headers });
  } catch (error) {
    throw error instanceof ProviderUnavailableError ? error : new ProviderUnavailableError(findReason(error));
  }
}

async function readBytes({ body }: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new ProviderUnavailableError(`more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A code of Node, such as ECONNREFUSED: the texts of errors may hold a URL. */
function findReason(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return "timeout";
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code: unknown = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" && /^[A-Z_]{1,64}$/.test(code) ? code : "network";
}
