import { once } from "node:events";
import { expect } from "chai";
import { freePort } from "../support/free-port.js";
import { startProgram } from "../support/program.js";

describe("run() whose standard error is closed, as behind `| head -1`", () => {
  for (const log of ["", `(await load("entries/observe.js")).installLogging("info");`])
    it(`goes on, and stops at SIGTERM, ${log === "" ? "without a log" : "with a log"}`, async () => {
      const port = await freePort();
      const program = `
        ${log}
        const { Application, Route, Routes } = await load("entries/main.js");
        const broken = Route.get("/", () => { throw new Error("broken"); });
        await Application.create().lifecycle({ drainDelayMs: 0 }).catchPanic().routes(new Routes([broken])).port(${port}).build().run();
      `;
      const child = startProgram(program);
      await once(child.stderr, "data");
      child.stderr.destroy();

      const statuses = [];
      for (let at = 0; at < 3; at++) statuses.push((await fetch(`http://127.0.0.1:${port}/`)).status);
      child.kill("SIGTERM");
      const [code] = (await once(child, "exit")) as [number | null];

      expect(statuses).to.deep.equal([500, 500, 500]);
      expect(code).to.equal(0);
    });
});
