import { expect, test } from 'vitest'
import { intervalMs } from '../../../src/endpoints/batches/services.ts'

// A fraction would be refused by databases, after the vendor has taken the batch.
test('the time to the next check grows with the age of a batch, in whole milliseconds', () => {
  const ages = [0, 99_999, 100_001, 123_457, 1_199_999, 86_400_000]
  expect(ages.map((age) => intervalMs({ createdAt: 1_000_000 }, 1_000_000 + age))).toEqual([
    5_000, 5_000, 5_000, 6_173, 60_000, 60_000,
  ])
})
