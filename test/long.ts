/** Some tests have a long form, which takes minutes: `npm run test:long`. */
export const long: boolean = Boolean(process.env['MODELHATCH_LONG'])

/** Where everything must be run, as in CI, tests go through all their cases; a plain `npm test` takes a sample of the many. */
export const thorough: boolean = long || Boolean(process.env['MODELHATCH_REQUIRE_ALL'])

/** All of them where everything must be run, else every `stride`-th. */
export function sampleOf<T>(cases: readonly T[], stride: number): readonly T[] {
  return thorough ? cases : cases.filter((_, index) => index % stride === 0)
}
