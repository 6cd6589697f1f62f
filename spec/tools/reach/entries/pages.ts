import { strict as assert } from "node:assert";
import { Application, Route, Routes } from "@stagecraft/framework";
import { page, Pages } from "@stagecraft/framework/pages";
import { testApp } from "@stagecraft/framework/testing";

declare module "@stagecraft/framework/pages" {
  interface PageContracts {
    notes: { readonly count: number };
  }
}

const routes = new Routes([Route.get("/", () => page("notes", { count: () => 1 }))]);

const app = await testApp(Application.create().routes(routes).pages(new Pages()));
const document = await app.get("/");
assert.match(await document.text(), /"component":"notes"/);
const visit = await app.get("/", { headers: { "X-Inertia": "true" } });
assert.deepEqual((await visit.json()).props, { count: 1, errors: {} });
await app.stop();
console.log("works");
