/**
 * The bodies of responses that arrive over time, as async iterables: server-sent events (WHATWG HTML section 9.2.6) and lines of JSON. The
 * end of a loop over them closes the connection, and so does the signal of the call. They do not connect again.
 */

import type { ReceivedEvent } from "../endpoints/content.js";

export async function* readEvents(response: Response): AsyncGenerator<ReceivedEvent> {
  let data: string[] = [];
  let event = "";
  let id: string | undefined;
  for await (const line of readLines(response)) {
    if (line === "") {
      if (data.length > 0) yield { event: event || "message", data: parseData(data.join("\n")), id };
      data = [];
      event = "";
      continue;
    }
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === "data") data.push(value);
    else if (name === "event") event = value;
    else if (name === "id") id = value;
  }
}

export async function* readJsonLines(response: Response): AsyncGenerator {
  for await (const line of readLines(response)) if (line.trim() !== "") yield JSON.parse(line);
}

function parseData(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The lines without their ends. A text after the last end is a line too. */
async function* readLines(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of readChunks(response)) {
    rest += decoder.decode(chunk, { stream: true });
    // A carriage return at the end may be the first half of a line end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest.replace(/\r$/, "");
}

/** Not every browser can iterate over a stream. */
export async function* readChunks({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  try {
    for (;;) {
      const read = await reader?.read();
      if (read?.value === undefined) return;
      yield read.value;
    }
  } finally {
    await reader?.cancel();
  }
}
