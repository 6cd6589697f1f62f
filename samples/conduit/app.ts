/** The application for the command `stagecraft`; `main.ts` runs it. */
import { conduitApplication } from "./application.js";
import { openDatabase } from "./database.js";
import { settingsFrom } from "./settings.js";

export default async () => {
  const settings = settingsFrom(process.env);
  return conduitApplication(settings, await openDatabase(settings));
};
