import { describe, expect, test } from 'vitest'
import { badRequest, expectBrokenOff, expectComplete, expectRefused, unavailable } from './answers.ts'
import { vendorErrorBody } from './canary.ts'
import { runFault } from './run-fault.ts'
import type { Line, Script } from './raw-vendor.ts'
import { events } from './healthy.ts'

/** The text in the first n events of the stream. */
const textAfter = ['', '', 'Hello', 'Hello!', 'Hello!', 'Hello!', 'Hello!']
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
  const text = textAfter[count] as string
  const clean: Script = after(count, (line) => line.last())
  const cut: Script = after(count, (line) => line.end())

  test('with a normal end is complete for a streaming client only if its choice has finished', async () => {
    const met = await runFault({ vendor: clean }, true)
    if (count >= finished) expectComplete(met, text)
    else if (text !== '') expectBrokenOff(met, text)
    else expectRefused(met, unavailable)
  })

  test('with a normal end is complete for a non-streaming client only if its choice has finished', async () => {
    const met = await runFault({ vendor: clean }, false)
    if (count >= finished) expectComplete(met, text)
    else expectRefused(met, unavailable, true)
  })

  test('because the connection closed ends with an error, even after its choice has finished', async () => {
    const met = await runFault({ vendor: cut }, true)
    if (text === '') expectRefused(met, unavailable)
    else if (count < finished) expectBrokenOff(met, text)
    else {
      expect(met.receipt).toMatchObject({ outcome: 'failed', code: 'service_unavailable' })
      expect(met.text).toMatch(/"finish_reason":"stop".*\n\ndata: \{"error":\{.*\}\}\n\n$/s)
    }
    await met.vendor.quiet()
  })

  test('because the connection closed is a 503 for a non-streaming client', async () => {
    expectRefused(await runFault({ vendor: cut }, false), unavailable, true)
  })

  test('because the vendor crashed ends with an error', async () => {
    if (text === '') return
    const vendor = after(count, (line) => void line.released.then(() => line.reset()))
    const met = await runFault({ vendor, releaseAt: count < finished ? (text.at(-1) as string) : '"stop"' }, true)
    if (count < finished) expectBrokenOff(met, text)
    else expect(met.receipt).toMatchObject({ outcome: 'failed', code: 'service_unavailable' })
  })
})

describe('a complete stream', () => {
  test.each<[string, Script]>([
    ['is complete when the vendor closes after [DONE]', after(done, (line) => line.end())],
    ['is complete when the body continues after [DONE]', after(done, (line) => line.chunk('data: {"canary":1}\n\n'))],
    [
      'is complete when the last blank line is missing',
      (line) => line.events().chunk(events.join('').slice(0, -2)).last(),
    ],
    ['is complete when [DONE] is truncated', (line) => line.events().chunk(events.join('').slice(0, -8)).last()],
    [
      'is complete when the usage after the finish reason is truncated',
      (line) => line.events().chunk(events.slice(0, 5).join('').slice(0, -20)).last(),
    ],
  ])('%s', async (_, vendor) => {
    expectComplete(await runFault({ vendor }, true), 'Hello!')
    expectComplete(await runFault({ vendor }, false), 'Hello!')
  })

  test('with two choices is complete only if both have finished', async () => {
    const other = (events[1] as string).replace('"index":0', '"index":1')
    const halfDone = [...events.slice(0, 2), other, ...events.slice(2, 5)].join('')
    const met = await runFault({ vendor: (line) => line.events().chunk(halfDone).last() }, true)
    expect(met.receipt).toMatchObject({ outcome: 'failed', code: 'service_unavailable' })
    expect(met.text).not.toContain('[DONE]')
  })

  test('drops content after the finish reason of its choice', async () => {
    const said = [...events.slice(0, 4), events[1], ...events.slice(4)].join('')
    expectComplete(await runFault({ vendor: (line) => line.events().chunk(said).last() }, true), 'Hello!')
  })

  test('closes the connection at the first byte after [DONE]', async () => {
    const met = await runFault(
      { vendor: after(done, (line) => line.endlessly(`10000\r\n${':'.padEnd(0x10000, 'x')}\r\n`)) },
      true,
    )
    expectComplete(met, 'Hello!')
    await met.vendor.quiet()
    expect(met.vendor.connections[0]?.socket.bytesWritten).toBeLessThan(8 * 1024 * 1024)
  })

  test('does not wait for a body without end, and does not reuse its connection', async () => {
    const met = await runFault({ vendor: after(done, (line) => line.chunk(': canary\n\n')) }, true)
    expectComplete(met, 'Hello!')
    await met.vendor.quiet()
  })
})

describe('a stream that fails after its first content ends with an error that has no vendor text:', () => {
  test.each<[string, string]>([
    ['an error', `data: ${vendorErrorBody()}\n\n`],
    ['an error and [DONE]', `data: ${vendorErrorBody()}\n\ndata: [DONE]\n\n`],
    [
      'an error in another JSON style than the chunks',
      `data: ${JSON.stringify(JSON.parse(vendorErrorBody()), null, 1).replaceAll('\n', '')}\n\n`,
    ],
    ['an error that is a string', 'data: {"error":"canary"}\n\n'],
    ['an error that is a number', 'data: {"error":500,"message":"canary"}\n\n'],
    ['an error without the "error" field', 'data: {"object":"error","message":"canary","code":500}\n\n'],
    ['an event named "error"', `event: error\ndata: ${vendorErrorBody()}\n\n`],
    ['an event named "error" without an error object', 'event: error\ndata: {"message":"canary"}\n\ndata: [DONE]\n\n'],
    ['the finish reason "error"', (events[3] as string).replace('stop', 'error')],
    ['an event that is not JSON', 'data: canary\n\n'],
    ['a truncated event', 'data: {"choices":[{"delta":{"content":"canary\n\n'],
    ['an event that is a list', 'data: ["canary"]\n\n'],
    ['choices that are an object', 'data: {"choices":{"canary":1}}\n\n'],
    ['an HTML page', '<html>canary says no</html>\n\n'],
  ])('%s', async (_, event) => {
    const met = await runFault({ vendor: after(2, (line) => line.chunk(event).last()) }, true)
    expectBrokenOff(met, 'Hello')
    expectRefused(await runFault({ vendor: after(2, (line) => line.chunk(event).last()) }, false), unavailable, true)
  })

  test('an error that the client caused becomes its 400', async () => {
    const vendor = after(2, (line) => line.chunk(`data: ${vendorErrorBody({ code: 400 })}\n\n`).last())
    expectBrokenOff(await runFault({ vendor }, true), 'Hello', badRequest)
    expectRefused(await runFault({ vendor }, false), badRequest, true)
  })

  test('the receipt has the usage that the vendor reported with the error', async () => {
    const body = JSON.parse(vendorErrorBody()) as object
    const usage = { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 }
    const vendor = after(2, (line) => line.chunk(`data: ${JSON.stringify({ ...body, usage })}\n\n`).last())
    expect((await runFault({ vendor }, true)).receipt).toMatchObject({ usage, usageSource: 'reported' })
  })

  test('an endless stream ends with an error at streamBytes', async () => {
    const vendor = after(2, (line) => {
      const event = events[2] as string
      line.endlessly(`${event.length.toString(16)}\r\n${event}\r\n`)
    })
    const met = await runFault({ vendor, provider: { streamBytes: 50_000 } }, true)
    expectBrokenOff(met, /Hello!+/.exec(met.text.replaceAll(/.*"content":"([^"]*)".*\n\n/g, '$1'))?.[0] ?? '')
    await met.vendor.quiet()
  })
})
