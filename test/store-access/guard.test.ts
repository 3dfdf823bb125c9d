import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { Guard } from '../../src/store-access/guard.ts'

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

describe('a call of a store', () => {
  test('that answers at once is given at once', () => {
    expect(guardAt({ now: 0 }).call(() => 5)).toBe(5)
  })

  test('that fails, in whatever way, is 503 with advice to try again, and the reason for the host', async () => {
    const guard = guardAt({ now: 0 })
    const refusal = { status: 503, retryAfterMs: 1_000 }
    await expect(guard.call(down)).rejects.toMatchObject(refusal)
    await expect(guard.call(never)).rejects.toMatchObject(refusal)
    expect(() =>
      guard.call(() => {
        throw new Error('not even asked')
      }),
    ).toThrow(expect.objectContaining(refusal))
  })

  test('that refuses in the gateway’s own words is passed on, and counts as an answer', async () => {
    const guard = guardAt({ now: 0 })
    for (let asked = 0; asked < 9; asked++) {
      await expect(guard.call(() => Promise.reject(new GatewayError('conflict')))).rejects.toMatchObject({
        status: 409,
      })
    }
  })
})

describe('a store that fails again and again', () => {
  test('is left alone for a moment, then looked after by one call', async () => {
    const clock = { now: 1_000 }
    const guard = await opened(clock)
    let asked = 0
    const look = () => (asked++, down())
    expect(() => guard.call(look)).toThrow('temporarily unavailable')
    expect(asked).toBe(0)
    clock.now += 250
    await expect(guard.call(look)).rejects.toMatchObject({ status: 503 })
    expect(() => guard.call(look)).toThrow('temporarily unavailable')
    expect(asked).toBe(1)
  })

  test('serves everybody again after the first answer', async () => {
    const clock = { now: 1_000 }
    const guard = await opened(clock)
    clock.now += 250
    expect(await guard.call(() => Promise.resolve('back'))).toBe('back')
    expect(await guard.call(() => Promise.resolve('for all'))).toBe('for all')
  })

  test('serves again when a late answer shows that it lives', async () => {
    const clock = { now: 1_000 }
    const guard = await opened(clock)
    clock.now += 250
    const late = Promise.withResolvers<string>()
    await expect(guard.call(() => late.promise)).rejects.toMatchObject({ status: 503 })
    late.resolve('at last')
    await late.promise
    expect(await guard.call(() => Promise.resolve('served'))).toBe('served')
  })

  test('is not left alone for ever because the clock was put back', async () => {
    const clock = { now: 1_000_000 }
    const guard = await opened(clock)
    clock.now = 0
    expect(await guard.call(() => Promise.resolve('back'))).toBe('back')
  })
})
