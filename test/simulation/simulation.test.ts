/** Histories of gateways on shared stores in virtual time; see `npm run simulate`. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { long, thorough } from '../long.ts'
import { faults } from './faults.ts'
import { inThread } from './threads.ts'

const seeds = long ? 20_000 : thorough ? 200 : 60

test(`${seeds} histories keep every promise about money, limits, tasks and keys, and repeat themselves`, async () => {
  const { histories, requests, found, isRepeatable } = await inThread({
    kinds: ['memory', 'memory', 'memory', 'sqlite'],
    from: 1,
    seeds,
  })
  expect(found).toEqual([])
  expect({ histories, isRepeatable }).toEqual({ histories: seeds, isRepeatable: true })
  expect(requests).toBeGreaterThan(5 * seeds)
})

test.skipIf(!long)('300 histories on Postgres keep them too', { timeout: 3_600_000 }, async () => {
  const { histories, found, isRepeatable } = await inThread({ kinds: ['postgres'], from: 1, seeds: 300 })
  expect(found).toEqual([])
  expect({ histories, isRepeatable }).toEqual({ histories: 300, isRepeatable: true })
})

test('every planted fault fits its source', () => {
  const source = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  expect(faults.filter(({ file, find }) => source(file).split(find).length !== 2)).toEqual([])
})

test('a planted fault is found, and its history is shortened to what it takes', async () => {
  const fault = faults.find(({ name }) => name === 'a settlement leaves the hold open')
  const work = { kinds: ['memory'], from: 1, seeds: 5, stops: true, shrinks: true } as const
  const { found, shortest } = await inThread({ ...work, ...(fault && { fault }) })
  expect(found.map(({ message }) => message)).toEqual([expect.stringMatching(/^the stores keep their contracts: /)])
  expect(shortest?.events).toBe(1)
  expect(shortest?.log.join('\n')).toContain('ledger.settle')
})
