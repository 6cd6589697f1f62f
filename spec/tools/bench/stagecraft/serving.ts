/** Serves an application as a process, the way `run()` does it in production, and prints `ready <port>` once it is ready. */
import type { ApplicationBuilder } from "@stagecraft/framework";
import { freePort } from "../../../support/free-port.js";

// An import of the module would load undici, which neither the application nor a peer loads.
const { get } = process.getBuiltinModule("node:http");

export async function serving(application: ApplicationBuilder): Promise<void> {
  const port = Number(process.env["PORT"] ?? (await freePort()));
  const ended = application.port(port).build().run();
  await untilReady(port);
  await ended;
}

export async function untilReady(port: number): Promise<void> {
  while (!(await isReady(port))) await new Promise((resolve) => setTimeout(resolve, 5));
  console.log(`ready ${port}`);
}

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    get({ host: "127.0.0.1", port, path: "/up/ready", agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on("error", () => resolve(false));
  });
}
