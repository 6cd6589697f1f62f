/** Sends header lines and returns the request as Node's parser reads it. */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { listening } from "./listening.js";

export async function parsedRequest(...lines: readonly string[]): Promise<IncomingMessage> {
  const { server, port } = await listening(createServer((_request, response) => response.end()));
  const socket = connect(port, "127.0.0.1");
  const request = once(server, "request");
  socket.end(["GET / HTTP/1.1", "Host: spec", "Connection: close", ...lines, "", ""].join("\r\n"), "latin1");
  const [message] = (await request) as [IncomingMessage];
  server.close();
  await once(server, "close");
  return message;
}
