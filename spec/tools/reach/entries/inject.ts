import { strict as assert } from "node:assert";
import { faultsOfInject } from "./inject-messages.ts";

assert.deepEqual(faultsOfInject(), []);
console.log("works");
