import { describe, expect, test } from 'vitest'
import { expectBrokenOff, expectRefused, tooMany, unavailable } from './answers.ts'
import { vendorErrorBody } from './canary.ts'
import { meet } from './meet.ts'
import type { Line, Script } from './raw-vendor.ts'
import { events, whole } from './said.ts'

const soon = 40

describe.each([
  { client: 'a client that waits', stream: false },
  { client: 'a client that streams', stream: true },
])('$client gets 503 when a vendor', ({ stream }) => {
  test.each<[string, Script]>([
    ['takes a request and says nothing', () => undefined],
    ['sends headers and no body', (line, asked) => (asked ? line.events() : line.head('200', { 'content-length': 9 }))],
    ['only gives hints', (line) => line.write('HTTP/1.1 103 Early Hints\r\n\r\n')],
  ])('%s', async (_, vendor) => {
    const met = await meet({ vendor, provider: { firstByteMs: soon } }, stream)
    expectRefused(met, unavailable)
    expect(causeOf(met.failures)).toBe('Error: the vendor let us wait too long for the first byte')
    await met.vendor.quiet()
  })

  test('says nothing, and the gateway has less patience than the provider', async () => {
    const met = await meet({ vendor: () => undefined, gateway: { timeouts: { firstContentMs: soon } } }, stream)
    expectRefused(met, unavailable)
    await met.vendor.quiet()
  })

  test('falls silent before its first word', async () => {
    const met = await meet({ vendor: begin, provider: { idleMs: soon } }, stream)
    expectRefused(met, unavailable)
    expect(causeOf(met.failures)).toBe('Error: the vendor let us wait too long for the next piece')
    await met.vendor.quiet()
  })
})

test('a vendor that falls silent in the middle breaks the stream off', async () => {
  const said = events.slice(0, 2).join('')
  const met = await meet({ vendor: (line) => line.events().chunk(said), provider: { idleMs: soon } }, true)
  expectBrokenOff(met, 'Hello')
  await met.vendor.quiet()
})

test('a refusal whose body does not come is told by its status, before long', async () => {
  const headers = { 'content-length': '9999', 'retry-after': '3' }
  const vendor: Script = (line) => line.answer('429', 'application/json', vendorErrorBody(), headers)
  const met = await meet({ vendor, provider: { idleMs: soon } }, false)
  expectRefused(met, { ...tooMany, retryAfter: 3_000 })
  await met.vendor.quiet()
})

/** The beginning of an answer, and no more. */
function begin(line: Line, stream: boolean): void {
  if (stream) line.events().chunk(events[0] as string)
  else line.head('200', { 'content-type': 'application/json', 'content-length': 999 }).write(whole.slice(0, 20))
}

function causeOf(failures: unknown[]): string {
  return String((failures[0] as { error: Error }).error.cause)
}
