/** Run by passwords.ts: GET / with a short text, and sign-ins of users who do not exist, which hash as those of others do. */

import { Application, type Context, Route, Routes } from "@stagecraft/framework";
import { Passwords } from "@stagecraft/framework/auth";
import { HELLO } from "./fixtures.js";
import { serving } from "./stagecraft/serving.js";

const [, , concurrency = ""] = process.argv;
const passwords = new Passwords(concurrency === "" ? {} : { concurrency: Number(concurrency) });

const signIn = async (ctx: Context): Promise<string> =>
  String(await passwords.verify("correct horse battery staple", undefined, { signal: ctx.signal }));

await serving(Application.create().routes(new Routes([Route.get("/", () => HELLO), Route.post("/sign-in", signIn)])));
