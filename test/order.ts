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

/** Files that wait most of their time. All at once, as the longest, they would leave the cores idle. */
const waiting = [
  'gateway/assembly/outages',
  'money/export/export',
  'adapters/stores/sqlite',
  'admission/idempotency/waiting',
  'adapters/health/health',
].map((name) => `/test/${name}.test.ts`)

/** The number of other files between two of them: about as long as the longest of them takes. */
const between = 8

function placeOf({ moduleId }: TestSpecification): number {
  const at = first.findIndex((name) => moduleId.endsWith(name))
  return at < 0 ? first.length : at
}

/**
 * Starts the longest files first, and those that wait one after the other. Vitest orders the others by their time in the last
 * run, or by their size.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const waits = ({ moduleId }: TestSpecification) => waiting.some((name) => moduleId.endsWith(name))
    const order = sorted.filter((file) => !waits(file)).sort((left, right) => placeOf(left) - placeOf(right))
    sorted.filter(waits).forEach((file, index) => order.splice((index + 1) * (between + 1) - 1, 0, file))
    return order
  }
}
