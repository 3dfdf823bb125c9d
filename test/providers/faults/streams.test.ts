import { describe, expect, test } from 'vitest'
import { badRequest, expectBrokenOff, expectComplete, expectRefused, unavailable } from './answers.ts'
import { vendorErrorBody } from './canary.ts'
import { meet } from './meet.ts'
import type { Line, Script } from './raw-vendor.ts'
import { events } from './said.ts'

/** The text told by the first events of a stream. */
const told = ['', '', 'Hello', 'Hello!', 'Hello!', 'Hello!', 'Hello!']
const finished = 4
const done = events.length

const after =
  (count: number, then: (line: Line) => unknown): Script =>
  (line) => {
    line.events()
    for (const event of events.slice(0, count)) line.chunk(event)
    then(line)
  }

describe.each(events.map((_, count) => ({ count })))('a stream that stops after $count events', ({ count }) => {
  const text = told[count] as string
  const clean: Script = after(count, (line) => line.last())
  const cut: Script = after(count, (line) => line.end())

  test('with a regular end is complete for a client that streams only if its choice has ended', async () => {
    const met = await meet({ vendor: clean }, true)
    if (count >= finished) expectComplete(met, text)
    else if (text !== '') expectBrokenOff(met, text)
    else expectRefused(met, unavailable)
  })

  test('with a regular end is complete for a client that waits only if its choice has ended', async () => {
    const met = await meet({ vendor: clean }, false)
    if (count >= finished) expectComplete(met, text)
    else expectRefused(met, unavailable, true)
  })

  test('because the connection was closed is broken, also behind the end of its choice', async () => {
    const met = await meet({ vendor: cut }, true)
    if (text === '') expectRefused(met, unavailable)
    else if (count < finished) expectBrokenOff(met, text)
    else {
      expect(met.receipt).toMatchObject({ outcome: 'failed', code: 'service_unavailable' })
      expect(met.text).toMatch(/"finish_reason":"stop".*\n\ndata: \{"error":\{.*\}\}\n\n$/s)
    }
    await met.vendor.quiet()
  })

  test('because the connection was closed is no answer for a client that waits', async () => {
    expectRefused(await meet({ vendor: cut }, false), unavailable, true)
  })

  test('because the vendor’s machine is gone is broken', async () => {
    if (text === '') return
    const vendor = after(count, (line) => void line.released.then(() => line.reset()))
    const met = await meet({ vendor, releaseAt: count < finished ? (text.at(-1) as string) : '"stop"' }, true)
    if (count < finished) expectBrokenOff(met, text)
    else expect(met.receipt).toMatchObject({ outcome: 'failed', code: 'service_unavailable' })
  })
})

describe('a complete stream', () => {
  test.each<[string, Script]>([
    ['is complete when the vendor closes behind its end mark', after(done, (line) => line.end())],
    [
      'is complete when the body goes on behind its end mark',
      after(done, (line) => line.chunk('data: {"canary":1}\n\n')),
    ],
    [
      'is complete when the last blank line is missing',
      (line) => line.events().chunk(events.join('').slice(0, -2)).last(),
    ],
    ['is complete when the end mark is cut', (line) => line.events().chunk(events.join('').slice(0, -8)).last()],
    [
      'is complete when the usage behind its end is cut',
      (line) => line.events().chunk(events.slice(0, 5).join('').slice(0, -20)).last(),
    ],
  ])('%s', async (_, vendor) => {
    expectComplete(await meet({ vendor }, true), 'Hello!')
    expectComplete(await meet({ vendor }, false), 'Hello!')
  })

  test('of two choices is complete only if both have ended', async () => {
    const other = (events[1] as string).replace('"index":0', '"index":1')
    const halfDone = [...events.slice(0, 2), other, ...events.slice(2, 5)].join('')
    const met = await meet({ vendor: (line) => line.events().chunk(halfDone).last() }, true)
    expect(met.receipt).toMatchObject({ outcome: 'failed', code: 'service_unavailable' })
    expect(met.text).not.toContain('[DONE]')
  })

  test('says nothing more behind the end of its choice', async () => {
    const said = [...events.slice(0, 4), events[1], ...events.slice(4)].join('')
    expectComplete(await meet({ vendor: (line) => line.events().chunk(said).last() }, true), 'Hello!')
  })

  test('behind which the vendor goes on for ever is cut off with the next byte', async () => {
    const met = await meet(
      { vendor: after(done, (line) => line.endlessly(`10000\r\n${':'.padEnd(0x10000, 'x')}\r\n`)) },
      true,
    )
    expectComplete(met, 'Hello!')
    await met.vendor.quiet()
    expect(met.vendor.connections[0]?.socket.bytesWritten).toBeLessThan(8 * 1024 * 1024)
  })

  test('whose body has no end is not waited for, and its connection not used again', async () => {
    const met = await meet({ vendor: after(done, (line) => line.chunk(': canary\n\n')) }, true)
    expectComplete(met, 'Hello!')
    await met.vendor.quiet()
  })
})

describe('a stream that goes wrong behind its first words ends with an error, and without what the vendor says of it:', () => {
  test.each<[string, string]>([
    ['an error', `data: ${vendorErrorBody()}\n\n`],
    ['an error and an end mark', `data: ${vendorErrorBody()}\n\ndata: [DONE]\n\n`],
    [
      'an error printed otherwise than the chunks',
      `data: ${JSON.stringify(JSON.parse(vendorErrorBody()), null, 1).replaceAll('\n', '')}\n\n`,
    ],
    ['an error that is a text', 'data: {"error":"canary"}\n\n'],
    ['an error that is a number', 'data: {"error":500,"message":"canary"}\n\n'],
    ['an error without a cover', 'data: {"object":"error","message":"canary","code":500}\n\n'],
    ['an event named so', `event: error\ndata: ${vendorErrorBody()}\n\n`],
    ['an event named so, without an error in it', 'event: error\ndata: {"message":"canary"}\n\ndata: [DONE]\n\n'],
    ['an end that is an error', (events[3] as string).replace('stop', 'error')],
    ['an event that is not JSON', 'data: canary\n\n'],
    ['an event that is half of one', 'data: {"choices":[{"delta":{"content":"canary\n\n'],
    ['an event that is a list', 'data: ["canary"]\n\n'],
    ['choices that are none', 'data: {"choices":{"canary":1}}\n\n'],
    ['a page', '<html>canary says no</html>\n\n'],
  ])('%s', async (_, event) => {
    const met = await meet({ vendor: after(2, (line) => line.chunk(event).last()) }, true)
    expectBrokenOff(met, 'Hello')
    expectRefused(await meet({ vendor: after(2, (line) => line.chunk(event).last()) }, false), unavailable, true)
  })

  test('an error of the client’s own', async () => {
    const vendor = after(2, (line) => line.chunk(`data: ${vendorErrorBody({ code: 400 })}\n\n`).last())
    expectBrokenOff(await meet({ vendor }, true), 'Hello', badRequest)
    expectRefused(await meet({ vendor }, false), badRequest, true)
  })

  test('what the vendor counted before is on the receipt', async () => {
    const body = JSON.parse(vendorErrorBody()) as object
    const usage = { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 }
    const vendor = after(2, (line) => line.chunk(`data: ${JSON.stringify({ ...body, usage })}\n\n`).last())
    expect((await meet({ vendor }, true)).receipt).toMatchObject({ usage, usageSource: 'reported' })
  })

  test('a stream without end', async () => {
    const vendor = after(2, (line) => {
      const event = events[2] as string
      line.endlessly(`${event.length.toString(16)}\r\n${event}\r\n`)
    })
    const met = await meet({ vendor, provider: { streamBytes: 50_000 } }, true)
    expectBrokenOff(met, /Hello!+/.exec(met.text.replaceAll(/.*"content":"([^"]*)".*\n\n/g, '$1'))?.[0] ?? '')
    await met.vendor.quiet()
  })
})
