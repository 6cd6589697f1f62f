/**
 * The bodies of responses that arrive over time, as async iterables: server-sent events (WHATWG HTML section 9.2.6) and lines of JSON. The
 * end of a loop over them closes the connection, and so does the signal of the call. They do not connect again.
 */
import type { ReceivedEvent } from "../endpoints/content.js";
import { ClientProblem, parseJson } from "./client-problem.js";
import type { ManifestEntry } from "./manifest.js";

/** A response, and the endpoint that it is of. */
export interface StreamSource {
  readonly entry: ManifestEntry;
  readonly response: Response;
}

/** The maximum of characters of a line, and of the data of one event: a server cannot fill the memory. */
const MAX_CHARACTERS = 1_048_576;

export async function* readEvents(source: StreamSource): AsyncGenerator<ReceivedEvent> {
  // Each line of data begins with a line end here.
  let data = "";
  let event = "";
  let id: string | undefined;
  for await (const line of readLines(source)) {
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === "data") data = append(data, `\n${value}`, source);
    else if (name === "event") event = value;
    else if (name === "id" && !value.includes("\0")) id = value;
    if (line !== "") continue;
    if (data !== "") yield { event: event || "message", data: parseData(data.slice(1), source), id };
    data = event = "";
  }
}

export async function* readJsonLines(source: StreamSource): AsyncGenerator {
  for await (const line of readLines(source)) if (line.trim() !== "") yield parseLine(line, source);
}

/** Under a contract data is JSON. An event with a name alone has empty data. */
function parseData(text: string, source: StreamSource): unknown {
  if (source.entry.responses === undefined) return text;
  return text === "" ? undefined : parseLine(text, source);
}

function parseLine(text: string, source: StreamSource): unknown {
  const value = parseJson(text);
  return value === undefined ? fail("sent a line that is not JSON", source) : value;
}

function append(text: string, more: string, source: StreamSource): string {
  return text.length + more.length > MAX_CHARACTERS ? fail("sent a line of over 1 MiB", source) : text + more;
}

function fail(fault: string, { entry, response }: StreamSource): never {
  throw new ClientProblem(entry, response, undefined, fault);
}

/** The lines without their ends. A text after the last end is a line too. */
async function* readLines(source: StreamSource): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let line = "";
  let hasReturn = false;
  for await (const chunk of readChunks(source.response)) {
    const text = decoder.decode(chunk, { stream: true });
    if (text === "") continue;
    // Only the new text is searched. A line end may be in two chunks.
    const [first = "", ...others] = text.slice(hasReturn && text.startsWith("\n") ? 1 : 0).split(/\r\n|\n|\r/);
    hasReturn = text.endsWith("\r");
    line = append(line, first, source);
    for (const next of others) {
      yield line;
      line = append("", next, source);
    }
  }
  if (line !== "") yield line;
}

/** Not every browser can iterate over a stream. */
export async function* readChunks({ body }: Response): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { value } = await reader.read();
      if (value === undefined) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}
