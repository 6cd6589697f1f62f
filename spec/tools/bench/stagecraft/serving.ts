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

/** @param workers that must all serve: the first one that does would get all connections */
export async function untilReady(port: number, workers = 0): Promise<void> {
  while (!(await isReady(port, workers))) await new Promise((resolve) => setTimeout(resolve, 5));
  console.log(`ready ${port}`);
}

function isReady(port: number, workers: number): Promise<boolean> {
  return new Promise((resolve) => {
    get({ host: "127.0.0.1", port, path: "/up/ready", agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () =>
        resolve(response.statusCode === 200 && (workers === 0 || text.includes(`"ready":${workers},`))),
      );
    }).on("error", () => resolve(false));
  });
}
