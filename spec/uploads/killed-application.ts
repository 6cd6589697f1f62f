/** Run by specs as a process of its own: an application that reads forms into the directory of its environment. */
import { Application, type Context, provide, Route, Routes } from "@stagecraft/framework";
import { Uploads } from "@stagecraft/framework/uploads";

// Without a listener the signal ends the process; with one the write fails with EFBIG, as on a full disk.
process.on("SIGXFSZ", () => {});
const directory = process.env["UPLOADS"] ?? "";
const most = process.env["LIMIT"];
const limits = most === undefined ? {} : { bytes: Number(most), fileBytes: Number(most) };
await Application.create()
  .routes(new Routes([Route.post("/", (ctx: Context) => ctx.uploads())]))
  .provide(provide(Uploads).useValue(new Uploads({ directory, ...limits })))
  .build()
  .run();
