import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Canceller } from '../../../src/http/cancellation.ts'
import { TimeLimit } from '../../../src/http/time-limit.ts'
import { ProviderError } from '../../../src/providers/failure.ts'
import type { ReportedLimit } from '../../../src/providers/reported-limits.ts'
import { VendorQueue, type QueuedCall } from '../../../src/routing/queue/vendor-queue.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** Of 600 requests a minute. */
function left(requests: number): ReportedLimit[] {
  return [{ of: 'requests', most: 600, left: requests, fullInMs: (600 - requests) * 100 }]
}

interface Asked {
  readonly asked: Promise<unknown>
  readonly cancel: (reason: unknown) => void
}

/** A queue whose vendor answers when `answer` is called. `sent`: whose calls it got. */
function scene(reported?: ReportedLimit[], maxWaitMs: number = 2_000) {
  const queue = new VendorQueue({ maxWaitMs, longest: new TimeLimit(maxWaitMs) })
  const sent: string[] = []
  const ask = (account: string, more: Partial<QueuedCall> = {}): Asked => {
    const cancellation = new Canceller()
    const call = { account, weight: 1, isBackground: false, promptTokens: 100, cancellation, ...more }
    const asked = queue.run(call, async () => void sent.push(account))
    asked.catch(() => undefined)
    return { asked, cancel: (reason) => cancellation.abort(reason) }
  }
  if (reported !== undefined) queue.reported(reported, performance.now())
  return { queue, sent, ask }
}

function many(count: number, ask: () => Asked): Asked[] {
  return Array.from({ length: count }, ask)
}

test('calls are sent at once while half of the limit is left', async () => {
  const { ask, sent } = scene(left(300))
  await Promise.all(many(50, () => ask('acme')).map(({ asked }) => asked))
  expect(sent).toHaveLength(50)
})

test('with less, they are sent as fast as the vendor refills its limit', async () => {
  // A quarter: as fast as it is refilled, which is ten in a second.
  const { ask, sent } = scene(left(150))
  many(20, () => ask('acme'))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(sent.length).toBeGreaterThanOrEqual(10)
  expect(sent.length).toBeLessThanOrEqual(12)
})

test('an account that floods waits for itself, and the others for one call of it', async () => {
  const { ask, sent } = scene(left(150))
  many(15, () => ask('flood'))
  await vi.advanceTimersByTimeAsync(200)
  const before = sent.length
  for (const account of ['a', 'b', 'c']) ask(account)
  await vi.advanceTimersByTimeAsync(500)
  expect(sent.slice(before, before + 4).filter((account) => account !== 'flood')).toEqual(['a', 'b', 'c'])
})

test('accounts get tokens by weight, whatever the size of their calls', async () => {
  const { ask, sent } = scene(left(150), 60_000)
  many(100, () => ask('light', { promptTokens: 200 }))
  many(100, () => ask('heavy', { promptTokens: 600, weight: 3 }))
  many(100, () => ask('small', { promptTokens: 50 }))
  await vi.advanceTimersByTimeAsync(5_000)
  const of = (name: string) => sent.filter((account) => account === name).length
  expect(of('heavy')).toBeGreaterThan(5)
  expect(Math.abs(of('heavy') - of('light'))).toBeLessThanOrEqual(2)
  expect(of('small') / of('light')).toBeGreaterThan(3)
})

test('output counts too, once it is known', async () => {
  const { queue, sent, ask } = scene(left(150), 60_000)
  const cancellation = new Canceller()
  const long = { account: 'long', weight: 1, isBackground: false, promptTokens: 100, cancellation }
  await queue.run(long, async (turn) => turn.used(5_100))
  many(5, () => ask('long'))
  many(5, () => ask('short'))
  await vi.advanceTimersByTimeAsync(1_500)
  expect(sent.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => 'short'))
})

test('background calls wait for all others', async () => {
  const { ask, sent } = scene(left(150))
  many(4, () => ask('batch', { isBackground: true }))
  many(8, () => ask('acme'))
  await vi.advanceTimersByTimeAsync(2_000)
  expect(sent.slice(0, 9)).toEqual(['batch', ...Array.from({ length: 8 }, () => 'acme')])
  expect(sent).toHaveLength(12)
})

test('a call that would wait too long is refused at once, and told when to come back', async () => {
  const { ask } = scene(left(150))
  const asked = many(40, () => ask('flood'))
  const refusal = await asked.at(-1)?.asked.catch((error: unknown) => error)
  expect(refusal).toMatchObject({ code: 'service_unavailable', retry: 'skip', begun: false })
  const { retryAfterMs = 0 } = refusal as ProviderError
  expect(retryAfterMs).toBeGreaterThan(1_900)
  expect(retryAfterMs).toBeLessThan(5_000)
})

test('none waits longer than the option says', async () => {
  const { ask, queue } = scene(left(150))
  const asked = many(18, () => ask('acme'))
  queue.reported(left(6), performance.now())
  const ended = Promise.allSettled(asked.map((each) => each.asked))
  await vi.advanceTimersByTimeAsync(2_100)
  expect((await ended).map(({ status }) => status)).toContain('rejected')
})

test('a call that is cancelled while it waits leaves its place', async () => {
  const { ask, sent } = scene(left(150))
  many(3, () => ask('acme'))
  const gone = ask('gone')
  ask('next')
  gone.cancel(new Error('the client has gone'))
  await expect(gone.asked).rejects.toThrow('the client has gone')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(sent.toSorted()).toEqual(['acme', 'acme', 'acme', 'next'])
})

test('a wait that the vendor asks for is kept, and told to clients', async () => {
  const { queue, ask, sent } = scene()
  const limited = new ProviderError('rate_limit_exceeded', { retry: 'same', vendorStatus: 429, vendorWaitMs: 30_000 })
  const call = { account: 'a', weight: 1, isBackground: false, promptTokens: 1, cancellation: new Canceller() }
  await expect(queue.run(call, () => Promise.reject(limited))).rejects.toBe(limited)
  const refusal = (await ask('b').asked.catch((error: unknown) => error)) as ProviderError
  expect(Math.round((refusal.retryAfterMs ?? 0) / 1_000)).toBe(30)
  await vi.advanceTimersByTimeAsync(30_000)
  await ask('b').asked
  expect(sent).toEqual(['b'])
})

test('what a vendor has said is not believed for ever', async () => {
  const { ask, sent } = scene(left(0))
  await expect(Promise.all(many(5, () => ask('acme')).map(({ asked }) => asked))).rejects.toThrow()
  await vi.advanceTimersByTimeAsync(300_000)
  sent.length = 0
  await Promise.all(many(5, () => ask('acme')).map(({ asked }) => asked))
  expect(sent).toHaveLength(5)
})

test('calls of a thousand accounts wait at most, and those of others are refused at once', async () => {
  const { ask } = scene(left(150), 60_000)
  many(3, () => ask('first', { promptTokens: 10_000_000 }))
  await vi.advanceTimersByTimeAsync(1_000)
  let refused = 0
  // Each asks for more than the one before, and so goes first.
  for (let account = 0; account < 1_100; account++)
    ask(`a${account}`, { promptTokens: 100 + account }).asked.catch(() => refused++)
  await vi.advanceTimersByTimeAsync(0)
  expect(refused).toBeGreaterThanOrEqual(90)
  expect(refused).toBeLessThanOrEqual(110)
})
