/** The options of mocha. `npm test` builds `dist` first, where the files and their order are found. */
import { orderedFiles } from "./dist/spec/support/file-order.js";

export default {
  spec: orderedFiles(),
  require: ["dist/spec/support/setup.js"],
  "node-option": ["enable-source-maps"],
  timeout: 60_000,
  "forbid-only": true,
  parallel: true,
  jobs: 4,
};
