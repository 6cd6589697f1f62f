/** The application with every stage on that a public service wants; `main.ts` runs it, the specs use it as it is. */
import { AppConfig, Application, ErrorMapping } from "@stagecraft/framework";
import { LinksModule } from "./links.module.js";

export function linksApplication() {
  return Application.create(LinksModule)
    .config(AppConfig.fromEnv({ APP_NAME: "links", ...process.env }))
    .catchPanic()
    .errorMapping(new ErrorMapping());
}
