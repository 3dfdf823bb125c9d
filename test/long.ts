/** Some tests have a long form, which takes minutes: `npm run test:long`. */
export const long: boolean = Boolean(process.env['MODELHATCH_LONG'])

/** Whether tests run all their cases, as in CI. A plain `npm test` runs a sample. */
export const thorough: boolean = long || Boolean(process.env['MODELHATCH_REQUIRE_ALL'])

/** All cases if `thorough`, otherwise every `stride`-th. */
export function sampleOf<T>(cases: readonly T[], stride: number): readonly T[] {
  return thorough ? cases : cases.filter((_, index) => index % stride === 0)
}
