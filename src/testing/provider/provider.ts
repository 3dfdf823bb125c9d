import type { Dialect, ReportedUsage } from '../dialects/dialect.ts'
import type { TestFunction } from '../kit.ts'
import { checkAnswers } from './answers.ts'
import { checkFailures } from './failures.ts'
import { checkFormats } from './formats.ts'
import { Kit, type Make, type Register } from './kit.ts'
import { checkStreams } from './streams.ts'
import { checkUsage } from './usage.ts'

/** Options of `testProvider`. */
export interface ProviderKitOptions {
  /**
   * Features that the provider does not support, and parts of the usage that it does not report; tests that need them are
   * skipped. Default: none.
   */
  readonly without?: readonly ('images' | 'reasoning' | ReportedUsage)[]
}

/**
 * Registers one test for each requirement on a provider that answers conversations, by `generate` or by a method for one
 * wire format, streamed and non-streaming. A gateway calls the provider, the provider calls a scripted vendor on loopback,
 * and the tests compare what the vendor sends with what clients of chats, responses and messages get.
 *
 * @param make Creates the provider for a vendor at this base URL.
 * @param dialect The vendor's format: a built-in one, or your own.
 * @example
 * ```ts
 * import { test } from 'vitest'
 * import { openaiDialect, testProvider } from 'modelhatch/testing'
 *
 * testProvider(test, (baseURL) => myProvider({ baseURL, apiKey: 'any' }), openaiDialect)
 * ```
 */
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
      } catch (error) {
        throw kit.explained(error)
      } finally {
        await kit.close()
      }
    })
  const check: Register = Object.assign(one, {
    both(name: string, run: (kit: Kit, stream: boolean) => Promise<void>) {
      one(`${name} (non-streaming)`, (kit) => run(kit, false))
      one(`${name} (streamed)`, (kit) => run(kit, true))
    },
  })
  const features = { reasoning: !without.includes('reasoning'), images: !without.includes('images') }
  checkAnswers(check, features)
  checkStreams(check, features)
  checkUsage(
    check,
    (dialect.reports ?? []).filter((part) => !without.includes(part)),
  )
  checkFailures(check)
  checkFormats(check)
}
