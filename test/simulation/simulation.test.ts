/** Histories of gateways on shared stores in virtual time; see `npm run simulate`. */
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { long } from '../long.ts'
import { faults } from './faults.ts'
import { inThread, Thread } from './threads.ts'

const seeds = long ? 20_000 : 200

test(
  `${seeds} histories keep every promise about money, limits, tasks and keys, and repeat themselves`,
  { timeout: 3_600_000 },
  async () => {
    const { histories, requests, found, isRepeatable } = await inThread({
      kinds: ['memory', 'memory', 'memory', 'sqlite'],
      from: 1,
      seeds,
    })
    expect(found).toEqual([])
    expect({ histories, isRepeatable }).toEqual({ histories: seeds, isRepeatable: true })
    expect(requests).toBeGreaterThan(5 * seeds)
  },
)

/** Each found a fault of the gateway, which is mended: the seed, and on which stores. */
const once = [
  [196, 'memory'],
  [578, 'memory'],
  [17_763, 'sqlite'],
  [252_664, 'memory'],
  [260_452, 'memory'],
  [503_703, 'sqlite'],
  [529_128, 'memory'],
  [553_544, 'memory'],
] as const

test('and so do histories in which they were once broken', async () => {
  const thread = new Thread()
  onTestFinished(() => thread.end())
  for (const [seed, kind] of once) {
    const { found, isRepeatable } = await thread.run({ kinds: [kind], from: seed, seeds: 1 })
    expect({ found, isRepeatable }).toEqual({ found: [], isRepeatable: true })
  }
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
