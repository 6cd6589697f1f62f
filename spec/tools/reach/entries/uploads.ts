import { strict as assert } from "node:assert";
import { Application, Route, Routes } from "@stagecraft/framework";
import { testApp } from "@stagecraft/framework/testing";
import { UploadedFile, Uploads } from "@stagecraft/framework/uploads";
import { z } from "zod";

const Form = z.object({ title: z.string(), file: z.instanceof(UploadedFile) });
const routes = new Routes([
  Route.post("/", async (ctx) => {
    const { title, file } = await ctx.uploads(Form);
    return { title, size: file.size };
  }),
]);

const app = await testApp(Application.create().provide(Uploads).routes(routes));
const form = new FormData();
form.set("title", "notes");
form.set("file", new Blob(["milk, bread"]), "notes.txt");
const response = await fetch(app.url, { method: "POST", body: form });
assert.deepEqual(await response.json(), { title: "notes", size: 11 });
await app.stop();
console.log("works");
