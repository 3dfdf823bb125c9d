/** Refusals that processes hear of through the limit store. */
import { describe, expect, test } from 'vitest'
import type { LimitStore } from '../../../adapters/stores/index.ts'
import { memoryLimitStore } from '../../../src/index.ts'
import { Guard } from '../../../src/records/guard.ts'
import { SharedRefusals } from '../../../src/routing/queue/shared-refusals.ts'
import { everyBundle } from '../../every-bundle.ts'

/** One process. `look` and `count` resolve when the store has answered. */
function processOn(store: LimitStore, model: string = 'm') {
  let heard = 0
  let seconds = 0
  let answered = () => {}
  const take: LimitStore['take'] = async (claim) => {
    try {
      return await store.take(claim)
    } finally {
      setImmediate(() => answered())
    }
  }
  const guard = new Guard({ name: 'the limit store', timeoutMs: 5_000, now: Date.now })
  const refusals = new SharedRefusals({ store: { take }, guard }, ['vendor', model], () => heard++)
  const after = async (act: (now: number) => void) => {
    const answer = new Promise<void>((resolve) => (answered = resolve))
    act((seconds += 1_000))
    await answer
    return heard
  }
  return {
    refusals,
    look: () => after((now) => refusals.look(now)),
    count: () => after((now) => refusals.count(now)),
  }
}

describe.each(everyBundle())('%s', (_, available, open) => {
  test.skipIf(!available)('a process hears of a refusal in another one, once, and not of its own', async () => {
    const [one, other] = [processOn((await open()).limits), processOn((await open()).limits)]
    for (const each of [one, other]) expect(await each.look()).toBe(0)
    expect(await one.count()).toBe(0)
    expect(await one.look()).toBe(0)
    expect(await other.look()).toBe(1)
    expect(await other.look()).toBe(1)
    expect(await other.count()).toBe(1)
    expect(await one.look()).toBe(1)
  })

  test.skipIf(!available)('a refusal of one model says nothing of another', async () => {
    const { limits } = await open()
    const [one, other] = [processOn(limits), processOn(limits, 'another')]
    await other.look()
    await one.count()
    expect(await other.look()).toBe(0)
  })
})

test('a process looks at most once a second', async () => {
  let asked = 0
  const limits = memoryLimitStore()
  const { refusals, look } = processOn({
    ...limits,
    take: (claim) => {
      asked++
      return limits.take(claim)
    },
  })
  await look()
  for (let ms = 0; ms < 1_000; ms++) refusals.look(1_000 + ms)
  expect(asked).toBe(1)
})

test('a limit store that fails changes nothing', async () => {
  const { look, count } = processOn({
    ...memoryLimitStore(),
    take: async () => {
      throw new Error('down')
    },
  })
  expect(await look()).toBe(0)
  expect(await count()).toBe(0)
  expect(await look()).toBe(0)
})
