import { Application, Route, Routes } from "@stagecraft/framework";

const hello = Route.get("/hello/{name}", ({ params }) => `Hello, ${params.name}`);

await Application.create()
  .routes(new Routes([hello]))
  .build()
  .run();
