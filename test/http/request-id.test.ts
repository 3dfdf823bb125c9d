import { expect, onTestFinished, test, vi } from 'vitest'
import { requestId } from '../../src/http/request-id.ts'

test('ids of requests ascend with time, and are unique within a millisecond', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_790_000_000_000 })
  onTestFinished(() => void vi.useRealTimers())
  const first = Array.from({ length: 1_000 }, requestId)
  vi.setSystemTime(1_790_000_000_001)
  const second = Array.from({ length: 1_000 }, requestId)
  expect(new Set([...first, ...second]).size).toBe(2_000)
  expect(first.every((id) => second.every((later) => id < later))).toBe(true)
  for (const id of first) expect(id).toMatch(/^req_01a0c4506c00[0-9a-f]{20}$/)
})
