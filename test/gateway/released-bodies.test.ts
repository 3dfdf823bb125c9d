/** What of a request stays in memory while its response is streamed. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { createGateway, type Exchange, type Gateway, type GatewayOptions, type Sink } from 'modelhatch'
import { anthropic, gemini, openai } from 'modelhatch/providers'
import { anthropicDialect, openaiDialect, type Dialect } from 'modelhatch/testing'
import { geminiDialect } from '../../src/testing/dialects/gemini.ts'
import { heapUsed } from '../heap.ts'
import { sampleOf } from '../long.ts'

/** Vendors that send the first words of a stream to each request, and do not keep the request. */
async function vendorOf(dialect: Dialect) {
  const { frames } = dialect.stream({ text: 'Once upon a time' })
  const first = frames.findIndex((frame) => frame.includes('Once')) + 1
  const open: ServerResponse[] = []
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(frames.slice(0, first).join(''))
      open.push(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const finish = () => open.splice(0).forEach((each) => each.end(frames.slice(first).join('')))
  return { origin, open, finish, server }
}

const vendors = {
  openai: await vendorOf(openaiDialect),
  anthropic: await vendorOf(anthropicDialect),
  gemini: await vendorOf(geminiDialect),
}
afterAll(() => Object.values(vendors).forEach(({ server }) => server.close().closeAllConnections()))

type Name = keyof typeof vendors

const apiKey = 'sk-vendor'
const gatewayTo = (options: Partial<GatewayOptions> = {}): Gateway =>
  createGateway({
    keys: { 'sk-test': {} },
    models: {
      openai: openai({ apiKey, baseURL: `${vendors.openai.origin}/v1` }),
      renamed: { provider: openai({ apiKey, baseURL: `${vendors.openai.origin}/v1` }), providerModel: 'another' },
      anthropic: anthropic({ apiKey, baseURL: vendors.anthropic.origin }),
      gemini: gemini({ apiKey, baseURL: vendors.gemini.origin }),
    },
    ...options,
  })

interface Held {
  /** Resolves with everything that was written. */
  readonly ended: Promise<string>
}

/** Sends a request and resolves when the first content has been written. */
async function begin(gateway: Gateway, target: string, body: object, headers: object = {}): Promise<Held> {
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<string>()
  let text = ''
  const sink: Sink = {
    closed: false,
    write(piece) {
      text += Buffer.from(piece as Uint8Array).toString()
      if (text.includes('Once')) begun.resolve()
      return true
    },
    drained: () => Promise.resolve(),
    end: () => ended.resolve(text),
    destroy: () => ended.reject(new Error('the stream was cut')),
  }
  // The exchange is not kept: a host has read the body from its socket.
  const reply = await gateway.handle({
    method: 'POST',
    target,
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json', ...headers },
    body: { state: 'text', text: Buffer.from(JSON.stringify(body)) },
    signal: new AbortController().signal,
  } satisfies Exchange)
  if (typeof reply.body === 'string' || reply.body instanceof Uint8Array) throw new Error(String(reply.body))
  reply.body.start(sink)
  await begun.promise
  return { ended: ended.promise }
}

const words = 'Explain in a few sentences why the sky is blue. '
const turns = (bytes: number) =>
  Array.from({ length: Math.ceil(bytes / 600) }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: words.repeat(12),
  }))
const chat = (model: string, bytes: number) => ({ model, stream: true, messages: turns(bytes), max_tokens: 100 })

const converse = (model: string, bytes: number) => ({
  ...chat(model, bytes),
  messages: turns(bytes).map(({ role, content }) => ({ role, content: [{ type: 'text', text: content }] })),
})
const respond = (model: string, bytes: number) => ({ model, stream: true, store: false, input: turns(bytes) })

/** Bytes in use, of JavaScript values and of buffers. */
function inUse(): number {
  // Buffers are released by the collection after the one of their objects.
  heapUsed()
  return heapUsed() + process.memoryUsage().external
}

/** Kilobytes of the bodies of open streams, and how many of each: a total of 2.6 MB, of which each row is more than half a megabyte. */
const lengths = [
  [300, 4],
  [100, 8],
  [12, 60],
] as const

/** Opens streams to long requests, or to as many short ones. */
function openAll(gateway: Gateway, model: string, target: string, body: Body, long: boolean): Promise<Held[]> {
  const each = lengths.flatMap(([kilobytes, count]) => Array.from({ length: count }, () => kilobytes * 1_024))
  return Promise.all(each.map((bytes) => begin(gateway, target, body(model, long ? bytes : 100))))
}

type Body = (model: string, bytes: number) => object

const bodies = ['openai', 'renamed', 'anthropic', 'gemini'].flatMap((model): [string, string, Body, string][] => [
  [`a chat of "${model}"`, '/v1/chat/completions', chat, model],
  [`a response of "${model}"`, '/v1/responses', respond, model],
  [`a message of "${model}"`, '/v1/messages', chat, model],
  [`a message of "${model}", in blocks`, '/v1/messages', converse, model],
])

test.each(sampleOf(bodies, 3))(
  'a long request is not kept in memory while its response is streamed: %s',
  async (_, target, body, model) => {
    const gateway = gatewayTo()
    const vendor = vendors[model === 'renamed' ? 'openai' : (model as Name)]
    /** Bytes in use while the streams are open. */
    const held = async (long: boolean) => {
      const streams = await openAll(gateway, model, target, body, long)
      const bytes = inUse()
      vendor.finish()
      await Promise.all(streams.map(({ ended }) => ended))
      return bytes
    }
    // If only the requests of one length were kept, they would be more than this.
    const most = Math.min(...lengths.map(([kilobytes, count]) => kilobytes * count)) / 2
    // The first streams open connections and make caches.
    await held(true)
    let least = Infinity
    // A request that is kept is measured each time; what else the process allocates, only now and then.
    for (let tried = 0; tried < 5 && least >= most; tried++) {
      const short = await held(false)
      least = Math.min(least, ((await held(true)) - short) / 1_024)
    }
    expect(least, 'KB in memory of long requests').toBeLessThan(most)
    await gateway.close({ graceMs: 0 })
  },
)

describe.each([1, 100, 300])('after the first content of a response to %i KB', (kilobytes) => {
  const body = chat('openai', kilobytes * 1_024)

  test('the request is still counted as long as it was, and its stream options apply', async () => {
    const gateway = gatewayTo()
    const text = JSON.stringify({ ...body, stream_options: { include_usage: true } })
    const { ended } = await begin(gateway, '/v1/chat/completions', JSON.parse(text) as object)
    const { finish, open } = vendors.openai
    // Without the vendor's usage.
    open[0]?.write('data: [DONE]\n\n')
    finish()
    const prompt = Number(/"prompt_tokens":(\d+)/.exec(await ended)?.[1])
    expect(prompt).toBe(Math.ceil(text.length / 4))
    await gateway.close({ graceMs: 0 })
  })

  test('an error of the vendor names a parameter that the client has sent', async () => {
    for (const [param, named] of [
      ['messages', true],
      ['max_tokens', true],
      ['seed', false],
    ]) {
      const gateway = gatewayTo()
      const { ended } = await begin(gateway, '/v1/chat/completions', body)
      const [response] = vendors.openai.open.splice(0)
      response?.end(`data: {"error":{"code":400,"message":"no","type":"invalid_request_error","param":"${param}"}}\n\n`)
      expect((await ended).includes(`"param":"${param}"`)).toBe(named)
      await gateway.close({ graceMs: 0 })
    }
  })

  test('a provider that has not agreed to it still reads the whole request', async () => {
    const seen: unknown[] = []
    const gateway = gatewayTo({
      models: {
        openai: {
          name: 'own',
          async *chat(call) {
            yield { choices: [{ index: 0, delta: { content: 'Once' } }] }
            seen.push(call.request.messages, call.field('messages'))
          },
        },
      },
    })
    await (
      await begin(gateway, '/v1/chat/completions', body)
    ).ended
    expect(seen).toEqual([body.messages, body.messages])
    await gateway.close({ graceMs: 0 })
  })
})
