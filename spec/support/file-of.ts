/** Finds the file of specs for which a hook of mocha runs. */

/** The file of the first test of the suite; `undefined` without a test. */
export function fileOf(suite: Mocha.Suite | undefined): string | undefined {
  if (suite === undefined) return undefined;
  return suite.tests[0]?.file ?? suite.suites.map(fileOf).find((file) => file !== undefined);
}
