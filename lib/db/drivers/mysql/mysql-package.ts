/** Loads the optional package `mysql2`. Every value of the package comes from this file. */
import { expectPeer, requirePeer } from "../../../errors/optional-package.js";

// Older releases send a number for LIMIT in a form that MySQL 8 refuses.
const PEER = { entry: "@stagecraft/framework/db/mysql", name: "mysql2", from: "3.14.0", install: "mysql2@3" };

expectPeer(PEER);
export const mysql2 = requirePeer(PEER) as typeof import("mysql2");
