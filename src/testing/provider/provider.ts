/**
 * The contract of `Provider.chat` as a suite for any test runner. The provider is asked as the gateway asks it, against
 * a vendor on a real socket, and what clients are told is compared with what the vendor said.
 */
import type { Dialect } from '../dialects/dialect.ts'
import type { TestFunction } from '../runner.ts'
import { checkAnswers } from './answers.ts'
import { checkFailures } from './failures.ts'
import { Kit, type Make, type Register } from './kit.ts'
import { checkStreams } from './streams.ts'

export interface ProviderKitOptions {
  /** What the provider cannot do by its nature: nothing is asked of it there. */
  readonly without?: readonly ('images' | 'reasoning')[]
}

/** Registers one test for each promise. `make` gives the provider for a vendor at that address, spoken for by `dialect`. */
export function testProvider(
  test: TestFunction,
  make: Make,
  dialect: Dialect,
  { without = [] }: ProviderKitOptions = {},
): void {
  const one = (name: string, run: (kit: Kit) => Promise<void>) =>
    void test(name, async () => {
      const kit = await Kit.open(make, dialect)
      try {
        await run(kit)
      } finally {
        await kit.close()
      }
    })
  const check: Register = Object.assign(one, {
    both(name: string, run: (kit: Kit, stream: boolean) => Promise<void>) {
      one(`${name} (whole)`, (kit) => run(kit, false))
      one(`${name} (streamed)`, (kit) => run(kit, true))
    },
  })
  const abilities = { reasoning: !without.includes('reasoning'), images: !without.includes('images') }
  checkAnswers(check, abilities)
  checkStreams(check, abilities)
  checkFailures(check)
}
