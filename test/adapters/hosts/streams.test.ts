import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { VendorRequest } from '../../../src/testing/vendor.ts'
import { open } from './client.ts'
import { firstFrame, frame, defaultVendor, hostedGateway, jsonHeaders, lastFrames, question } from './gateway.ts'
import { everyHost, plainHosts, type RunningHost } from './hosts.ts'
import { calmly } from '../../cpu-time.ts'

const { gateway, vendor, close } = await hostedGateway()
const patient = await hostedGateway({ timeouts: { keepAliveMs: 20 } })
const strict = await hostedGateway({ timeouts: { stallMs: 80 } })
afterAll(close)
afterAll(patient.close)
afterAll(strict.close)

const streamed = {
  method: 'POST',
  target: '/v1/chat/completions',
  headers: jsonHeaders,
  body: JSON.stringify({ ...question, stream: true }),
}

/** Milliseconds within which the vendor request must be aborted after the client disconnects. */
const soon = 100
/** A busy machine may sometimes take longer. */
const busy = { retry: 2 }

/** The vendor's side of the next call, which the test itself answers. */
function nextCall(scripted: typeof vendor): Promise<{ request: VendorRequest; response: ServerResponse }> {
  return new Promise((resolve) => {
    scripted.reply = (request, response) => resolve({ request, response })
  })
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(firstFrame)
}

/** A stream whose first content has reached the client. */
async function begun(host: RunningHost, scripted: typeof vendor) {
  const called = nextCall(scripted)
  const opening = open(host, streamed)
  const { request, response } = await called
  begin(response)
  const answer = await opening
  await answer.until('"content":"Hello"')
  return { request, response, answer }
}

/** Milliseconds until the vendor request is aborted. */
async function timeToAbort(request: VendorRequest): Promise<number> {
  const from = performance.now()
  if (!request.signal.aborted) await once(request.signal, 'abort')
  return calmly(performance.now() - from, soon)
}

describe.each(everyHost)('a stream behind $name', (host) => {
  let running: RunningHost
  let slowly: RunningHost
  beforeAll(async () => {
    running = await host.start(gateway)
    slowly = await host.start(patient.gateway)
  })
  afterEach(() => {
    vendor.reply = patient.vendor.reply = defaultVendor
  })
  afterAll(async () => {
    await running.close()
    await slowly.close()
  })

  it('delivers each frame to the client before the vendor sends the next', async () => {
    const { response, answer } = await begun(running, vendor)
    for (let count = 0; count < 4; count++) {
      response.write(frame(` ${count}`))
      await answer.until(`"content":" ${count}"`)
    }
    response.end(lastFrames)
    const text = await answer.rest()
    expect(text.match(/"content":"[^"]*"/g)).toEqual(
      ['Hello', ' 0', ' 1', ' 2', ' 3'].map((part) => `"content":"${part}"`),
    )
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it('aborts the vendor request as soon as the client disconnects', busy, async () => {
    const { request, answer } = await begun(running, vendor)
    answer.disconnect()
    expect(await timeToAbort(request)).toBeLessThan(soon)
  })

  it(
    'sends a keep-alive while the vendor is silent, and aborts the vendor request if the client disconnects then',
    busy,
    async () => {
      const called = nextCall(patient.vendor)
      const answer = await open(slowly, streamed)
      const { request } = await called
      expect(answer.status).toBe(200)
      expect(await answer.until('\n\n')).toMatch(/"delta":\{"role":"assistant","content":""\}.*\n\n$/)
      answer.disconnect()
      expect(await timeToAbort(request)).toBeLessThan(soon)
    },
  )

  if (!plainHosts.includes(host) && !/[35] behind (?:koa-compress|compression)$/.test(host.name)) return
  it('reads from the vendor no faster than the client reads', async () => {
    const { response, answer } = await begun(running, vendor)
    answer.pause()
    const large = frame('x'.repeat(256 * 1024))
    let written = 0
    const drained = () =>
      new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(false), 60)
        response.once('drain', () => {
          clearTimeout(timer)
          resolve(true)
        })
      })
    // Until the buffers of both sockets and of the gateway are full.
    while (written < 128 && (response.write(large) || (await drained()))) written++
    expect(written * large.length).toBeLessThan(20 * 1024 * 1024)
    answer.resume()
    response.end(lastFrames)
    const text = await answer.rest()
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(text.split('"content":"xxx').length - 1).toBe(written + 1)
  })

  it('is cut off if the client reads nothing for too long, and does not look complete', async () => {
    const running = await host.start(strict.gateway)
    const { request, response, answer } = await begun(running, strict.vendor)
    answer.pause()
    const large = frame('x'.repeat(256 * 1024))
    while (!request.signal.aborted) {
      if (!response.write(large)) await Promise.race([once(response, 'drain'), once(request.signal, 'abort')])
    }
    answer.resume()
    await expect(answer.rest()).rejects.toThrow()
    await running.close()
  })
})
