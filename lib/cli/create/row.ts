/** The row of `new` in the table of commands. */
import { command, flag, optionalArgument, text } from "../command.js";

export const NEW_COMMAND = command("new", {
  summary: "a new project in a new folder",
  parameters: {
    name: optionalArgument("NAME", "of the project and of its folder, such as my-shop"),
    database: text("ENGINE", "sqlite (default), postgres, mysql or none"),
    pages: text("LIBRARY", "none (default), react, vue or svelte"),
    auth: flag("sign-up and sign-in by mail and password"),
    docker: flag("a Dockerfile"),
    yes: flag("asks nothing, and takes the defaults"),
  },
  load: async () => (await import("./new-project.js")).newProject,
});
