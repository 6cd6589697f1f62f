/** Under CI a spec that is skipped, because a program is missing or somebody skipped it, is a failure. */
module.exports = {
  spec: ["dist/spec/**/*.spec.js"],
  ignore: ["dist/spec/bench/**"],
  require: ["dist/spec/support/setup.js"],
  "node-option": ["enable-source-maps"],
  timeout: 10_000,
  "forbid-only": true,
  "forbid-pending": process.env.CI === "true",
};
