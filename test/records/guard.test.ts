import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { Guard } from '../../src/records/guard.ts'

function guardAt(clock: { now: number }, timeoutMs = 20): Guard {
  return new Guard({ name: 'the store', timeoutMs, now: () => clock.now })
}

const down = () => Promise.reject(new Error('connection refused'))
const never = () => new Promise<never>(() => undefined)

async function opened(clock: { now: number }): Promise<Guard> {
  const guard = guardAt(clock)
  for (let failed = 0; failed < 5; failed++) await expect(guard.call(down)).rejects.toMatchObject({ status: 503 })
  return guard
}

describe('a store call', () => {
  test('that returns synchronously stays synchronous', () => {
    expect(guardAt({ now: 0 }).call(() => 5)).toBe(5)
  })

  test('that rejects, throws or times out becomes a 503 with retry-after', async () => {
    const guard = guardAt({ now: 0 })
    const unavailable = { status: 503, retryAfterMs: 1_000 }
    await expect(guard.call(down)).rejects.toMatchObject(unavailable)
    await expect(guard.call(never)).rejects.toMatchObject(unavailable)
    expect(() =>
      guard.call(() => {
        throw new Error('not even sent')
      }),
    ).toThrow(expect.objectContaining(unavailable))
  })

  test('gets the answer that arrived while the event loop was blocked', async () => {
    const guard = new Guard({ name: 'the store', timeoutMs: 300, now: () => performance.now() })
    const file = fileURLToPath(import.meta.url)
    await readFile(file)
    const answer = guard.call(async () => readFile(file))
    for (const until = performance.now() + 650; performance.now() < until;);
    expect(String(await answer)).toContain('event loop was blocked')
    await expect(guard.call(never)).rejects.toMatchObject({ status: 503 })
  })

  test('that rejects with a GatewayError passes it on, and does not count as a failure', async () => {
    const guard = guardAt({ now: 0 })
    for (let call = 0; call < 9; call++) {
      await expect(guard.call(() => Promise.reject(new GatewayError('conflict')))).rejects.toMatchObject({
        status: 409,
      })
    }
  })
})

describe('a store that keeps failing', () => {
  test('is skipped for 250 ms, then tried by one call', async () => {
    const clock = { now: 1_000 }
    const guard = await opened(clock)
    let calls = 0
    const probe = () => (calls++, down())
    expect(() => guard.call(probe)).toThrow('temporarily unavailable')
    expect(calls).toBe(0)
    clock.now += 250
    await expect(guard.call(probe)).rejects.toMatchObject({ status: 503 })
    expect(() => guard.call(probe)).toThrow('temporarily unavailable')
    expect(calls).toBe(1)
  })

  test('serves all calls again after the first success', async () => {
    const clock = { now: 1_000 }
    const guard = await opened(clock)
    clock.now += 250
    expect(await guard.call(() => Promise.resolve('back'))).toBe('back')
    expect(await guard.call(() => Promise.resolve('for all'))).toBe('for all')
  })

  test('serves all calls again after a late success', async () => {
    const clock = { now: 1_000 }
    const guard = await opened(clock)
    clock.now += 250
    const late = Promise.withResolvers<string>()
    await expect(guard.call(() => late.promise)).rejects.toMatchObject({ status: 503 })
    late.resolve('at last')
    await late.promise
    expect(await guard.call(() => Promise.resolve('served'))).toBe('served')
  })

  test('is not skipped for long when the clock is set back', async () => {
    const clock = { now: 1_000_000 }
    const guard = await opened(clock)
    clock.now = 0
    expect(await guard.call(() => Promise.resolve('back'))).toBe('back')
  })
})
