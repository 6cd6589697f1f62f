/** Our contender of the conduit benchmark: the modules of the sample without the stages that its peer does not have. */
import { Application, provide } from "@stagecraft/framework";
import { ConduitModule } from "../../../../samples/conduit/conduit.module.js";
import { ConduitDatabase, openDatabase } from "../../../../samples/conduit/database.js";
import { errorFormat } from "../../../../samples/conduit/errors.js";
import { settingsFrom } from "../../../../samples/conduit/settings.js";
import { conduitTokens } from "../../../../samples/conduit/users/viewer.js";
import { serving } from "./serving.js";

const settings = settingsFrom({ DATABASE_URL: process.env["BENCH_DB"] });
const database = await openDatabase(settings);
const application = Application.create(ConduitModule)
  .provide(provide(ConduitDatabase).useValue(database), ...conduitTokens(settings.tokenKeys))
  .errorMapping(errorFormat);
await serving(application);
