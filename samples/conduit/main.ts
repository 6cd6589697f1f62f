import { installLogging } from "@stagecraft/framework/observe";
import { conduitApplication } from "./application.js";
import { openDatabase } from "./database.js";
import { settingsFrom } from "./settings.js";

const settings = settingsFrom(process.env);
installLogging("info");
await conduitApplication(settings, await openDatabase(settings))
  .build()
  .run();
