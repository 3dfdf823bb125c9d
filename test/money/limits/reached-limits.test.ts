import { expect, test } from 'vitest'
import type { Measured } from '../../../src/money/limits/headers.ts'
import { ReachedLimits } from '../../../src/money/limits/reached-limits.ts'

const rule = { bucket: 'acme requests', limit: 12, periodMs: 60_000, burst: 12, cost: 1 }
const rates: readonly Measured[] = [{ measure: 'requests', rule, owner: 'this account' }]
const empty = { admitted: false, left: [0], free: [] }

test('an empty bucket is known to be empty until one request fits again', () => {
  let now = 1_000
  const reached = new ReachedLimits(() => now)
  reached.learn(rates, empty, reached.asks())
  expect(reached.waitMs(rule.bucket)).toBe(5_000)
  now += 5_000
  expect(reached.waitMs(rule.bucket)).toBe(0)
})

test('an answer that comes late, as in a process that was suspended, says nothing about the time since', () => {
  let now = 1_000
  const reached = new ReachedLimits(() => now)
  const askedAt = reached.asks()
  now += 17_000
  reached.learn(rates, empty, askedAt)
  expect(reached.waitMs(rule.bucket)).toBe(0)
})
