/** Values that expire, and their renewal. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Renewed } from '../../../src/providers/credentials/renewed.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a short life is used to its last tenth, and renewed in its last fifth', async () => {
  let asked = 0
  const renewed = new Renewed(async () => ({ value: ++asked, expiresAt: Date.now() + 60_000 }))
  expect(await renewed.value()).toBe(1)
  vi.advanceTimersByTime(47_000)
  expect(renewed.value()).toBe(1)
  expect(asked).toBe(1)
  vi.advanceTimersByTime(2_000)
  expect(renewed.value()).toBe(1)
  await vi.advanceTimersByTimeAsync(0)
  expect(renewed.value()).toBe(2)
  vi.advanceTimersByTime(55_000)
  expect(renewed.value()).toBeInstanceOf(Promise)
})

test('a function that never returns fails the requests that wait for it, and is asked again', async () => {
  let asked = 0
  const renewed = new Renewed(() => {
    asked++
    return new Promise<never>(() => undefined)
  })
  const failed = [renewed.value(), renewed.value()].map((value) =>
    Promise.resolve(value).catch((error: Error) => error),
  )
  await vi.advanceTimersByTimeAsync(10_000)
  for (const error of await Promise.all(failed)) expect(error).toBeInstanceOf(Error)
  expect(asked).toBe(1)
  await expect(renewed.value()).rejects.toThrow()
  expect(asked).toBe(1)
  await vi.advanceTimersByTimeAsync(1_001)
  void Promise.resolve(renewed.value()).catch(() => undefined)
  expect(asked).toBe(2)
  await vi.advanceTimersByTimeAsync(10_000)
})

test('a refused value is renewed once, however many requests had it', async () => {
  let asked = 0
  const renewed = new Renewed(async () => ({ value: { token: ++asked }, expiresAt: Date.now() + 60_000 }))
  const first = await renewed.value()
  renewed.discard(first)
  const second = await renewed.value()
  renewed.discard(first)
  expect(renewed.value()).toBe(second)
  expect(asked).toBe(2)
})
