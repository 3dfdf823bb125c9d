import { expect, test } from 'vitest'
import { reportedLimits } from '../../src/providers/reported-limits.ts'

function limitsIn(headers: Readonly<Record<string, string>>) {
  return reportedLimits({ status: 200, header: (name) => headers[name] })
}

test('limits are read as OpenAI states them', () => {
  const headers = {
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-limit-tokens': '150000',
    'x-ratelimit-remaining-requests': '59',
    'x-ratelimit-remaining-tokens': '149984',
    'x-ratelimit-reset-requests': '1s',
    'x-ratelimit-reset-tokens': '6m0s',
  }
  expect(limitsIn(headers)).toEqual([
    { of: 'requests', most: 60, left: 59, fullInMs: 1_000 },
    { of: 'tokens', most: 150_000, left: 149_984, fullInMs: 360_000 },
  ])
})

test('limits are read as Anthropic states them, by the clock of its servers', () => {
  const headers = {
    date: 'Fri, 27 Nov 2026 10:00:00 GMT',
    'anthropic-ratelimit-requests-limit': '4000',
    'anthropic-ratelimit-requests-remaining': '3999',
    'anthropic-ratelimit-requests-reset': '2026-11-27T10:00:01Z',
    'anthropic-ratelimit-input-tokens-limit': '2000000',
    'anthropic-ratelimit-input-tokens-remaining': '500000',
    'anthropic-ratelimit-input-tokens-reset': '2026-11-27T10:00:45Z',
  }
  expect(limitsIn(headers)).toEqual([
    { of: 'requests', most: 4_000, left: 3_999, fullInMs: 1_000 },
    { of: 'input', most: 2_000_000, left: 500_000, fullInMs: 45_000 },
  ])
})

test('other durations are read, and what is no limit is left out', () => {
  const of = (left: string, reset?: string) =>
    limitsIn({
      'x-ratelimit-limit-tokens': '100',
      'x-ratelimit-remaining-tokens': left,
      ...(reset !== undefined && { 'x-ratelimit-reset-tokens': reset }),
    })[0]
  expect(of('200', '120ms')).toEqual({ of: 'tokens', most: 100, left: 100, fullInMs: 120 })
  expect(of('10', '1m7.66s')?.fullInMs).toBeCloseTo(67_660)
  expect(of('10', '59.5')?.fullInMs).toBe(59_500)
  expect(of('10')?.fullInMs).toBeUndefined()
  expect(of('10', 'soon')?.fullInMs).toBeUndefined()
  expect(of('-1', '1s')).toBeUndefined()
  expect(of('many', '1s')).toBeUndefined()
  expect(limitsIn({})).toEqual([])
})

test('what no limit can be is left out: an endless one, and a reset in more than a day, such as a time in seconds', () => {
  const of = (most: string, reset: string) =>
    limitsIn({
      'x-ratelimit-limit-tokens': most,
      'x-ratelimit-remaining-tokens': '10',
      'x-ratelimit-reset-tokens': reset,
    })
  expect(of('Infinity', '1s')).toEqual([])
  for (const reset of ['1795000000', '400d', '9999-01-01T00:00:00Z'])
    expect(of('100', reset)).toEqual([{ of: 'tokens', most: 100, left: 10, fullInMs: undefined }])
})
