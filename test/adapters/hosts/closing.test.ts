import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createGateway } from 'modelhatch'
import { ask, open } from './client.ts'
import { frame, firstFrame, hostedGateway, jsonHeaders, key, lastFrames, question } from './gateway.ts'
import { plainHosts, type Host, type RunningHost } from './hosts.ts'

const hosts = plainHosts.filter(({ name }) => ['node:http', 'Express 5', 'Koa 3', 'fetch'].includes(name))
const chat = (stream: boolean) => ({
  method: 'POST',
  target: '/v1/chat/completions',
  headers: jsonHeaders,
  body: JSON.stringify({ ...question, stream }),
})

describe.each(hosts)('a gateway that closes behind $name', (host: Host) => {
  let hosted: Awaited<ReturnType<typeof hostedGateway>>
  let running: RunningHost
  beforeEach(async () => {
    hosted = await hostedGateway()
    running = await host.start(hosted.gateway)
  })
  afterEach(async () => {
    await running.close()
    await hosted.close()
  })

  /** The vendor's side of the next call, after it has sent the first frame of a stream. */
  const nextCall = (stream: boolean) =>
    new Promise<ServerResponse>((resolve) => {
      hosted.vendor.reply = (_, response) => {
        if (stream) response.writeHead(200, { 'content-type': 'text/event-stream' }).write(firstFrame)
        resolve(response)
      }
    })

  it('rejects new requests immediately, with retry-after', async () => {
    const called = nextCall(true)
    const streaming = await open(running, chat(true))
    const response = await called
    const closing = hosted.gateway.close({ graceMs: 60_000 })
    const refused = await ask(running, chat(false))
    expect(refused.status).toBe(503)
    expect(refused.headers).toMatchObject({ 'retry-after': '1', 'retry-after-ms': '1000' })
    expect(JSON.parse(refused.body)).toMatchObject({ error: { code: 'service_unavailable' } })
    expect((await ask(running, { target: '/v1/models', headers: jsonHeaders })).status).toBe(503)
    // A running request may finish; closing waits for it and no longer.
    response.end(frame('x') + lastFrames)
    expect((await streaming.rest()).endsWith('data: [DONE]\n\n')).toBe(true)
    await closing
  })

  it('ends a stream with an error instead of [DONE] after graceMs', async () => {
    const called = nextCall(true)
    const streaming = await open(running, chat(true))
    await called
    await hosted.gateway.close({ graceMs: 10 })
    const text = await streaming.rest()
    expect(text).toMatch(/"content":"Hello".*\n\ndata: \{"error":\{.*"code":"service_unavailable"\}\}\n\n$/s)
    expect(text).not.toContain('[DONE]')
  })

  it('answers a non-streaming request with 503 after graceMs', async () => {
    const called = nextCall(false)
    const asking = ask(running, chat(false))
    await called
    await hosted.gateway.close({ graceMs: 10 })
    expect(await asking).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  })

  it('waits up to graceMs for a request that is still being authenticated', async () => {
    const admitted = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const slow = createGateway({
      keys: { [key]: {} },
      models: {
        small: {
          name: 'quick',
          chat: () => ({ choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' } }] }) as never,
        },
      },
      authenticate: async () => {
        admitted.resolve()
        await release.promise
        return { account: 'a', group: 'default' }
      },
    })
    const own = await host.start(slow)
    const asking = ask(own, chat(false))
    await admitted.promise
    const closing = slow.close({ graceMs: 60_000 })
    release.resolve()
    expect((await asking).status).toBe(200)
    await closing
    await own.close()
  })

  it('does not wait for providers that ignore the abort', async () => {
    const asked = Promise.withResolvers<void>()
    const stubborn = createGateway({
      keys: { [key]: {} },
      models: {
        small: {
          name: 'stubborn',
          chat: () => {
            asked.resolve()
            return new Promise<never>(() => undefined)
          },
          close: () => Promise.reject(new Error('no')),
        },
      },
    })
    const own = await host.start(stubborn)
    const asking = ask(own, chat(true))
    await asked.promise
    await stubborn.close({ graceMs: 10 })
    expect((await asking).status).toBe(503)
    await own.close()
  })

  it('returns the same promise when closed again', async () => {
    const first = hosted.gateway.close({ graceMs: 0 })
    expect(hosted.gateway.close({ graceMs: 60_000 })).toBe(first)
    await first
    expect((await ask(running, chat(false))).status).toBe(503)
  })
})
