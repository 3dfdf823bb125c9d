/** Rolling deploys under load. The long form tests the documented guarantee, the short one that it works at all. */
import { expect, test } from 'vitest'
import { long } from '../../long.ts'
import { roll, type Rolling } from './rolls/rolling.ts'

const short = { rolls: 1, requests: 1, perSecond: 50, idleMs: 500 }
const form: Omit<Rolling, 'host'> = long ? { rolls: 10, requests: 1_000, perSecond: 50, idleMs: 6_000 } : short
const hosts = long ? (['express', 'koa'] as const) : (['express'] as const)

test.each(hosts)('workers on %s are replaced under load without a failed request', async (host) => {
  const { official, plain, codes } = await roll({ host, ...form })
  expect(codes).toEqual(Array.from({ length: 2 * form.rolls }, () => 0))
  expect(official.failed).toEqual([])
  // A client that does not retry can lose a request that it sends while its idle connection closes.
  expect(plain.failed.length, plain.failed.join(', ')).toBeLessThanOrEqual(3)
  expect(Math.min(official.sent, plain.sent)).toBeGreaterThanOrEqual(form.rolls * form.requests)
})
