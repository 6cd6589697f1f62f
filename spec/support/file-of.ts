/** The file that a hook of mocha for a whole file belongs to. */

/** The file of the first test. */
export function fileOf(suite: Mocha.Suite | undefined): string | undefined {
  if (suite === undefined) return undefined;
  return suite.tests[0]?.file ?? suite.suites.map(fileOf).find((file) => file !== undefined);
}
