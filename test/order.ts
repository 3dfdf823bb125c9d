/** The order of the test files. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take longest, which would otherwise end long after all others, and `released-bodies`, whose garbage
 * collections take the less time the less the process has loaded. The longest is first.
 */
const first = [
  'packed/package',
  'gateway/released-bodies',
  'adapters/console/pages',
  'adapters/console/actions',
  'adapters/stores/pglite',
  'examples/quick-start',
  'admission/idempotency/two-gateways',
  'chaos/shared',
  'chaos/caps',
  'gateway/promises',
  'adapters/hosts/safety',
  'uploads/large',
].map((name) => `/test/${name}.test.ts`)

function placeOf({ moduleId }: TestSpecification): number {
  const at = first.findIndex((name) => moduleId.endsWith(name))
  return at < 0 ? first.length : at
}

/** Starts the longest files first. Vitest orders the others by their time in the last run, or by their size. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.sort((left, right) => placeOf(left) - placeOf(right))
  }
}
