/** What a client that disconnects is charged, by the moment it does: the same through every host. */
import { request, type ServerResponse } from 'node:http'
import { connect } from 'node:http2'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memoryLedger, memoryUsageStore, type Receipt } from 'modelhatch'
import { mount } from 'modelhatch/fetch'
import { open } from './client.ts'
import { frame, hostedGateway, jsonHeaders, question } from './gateway.ts'
import { plainHosts, type RunningHost } from './hosts.ts'

const words = ['Once ', 'upon ', 'a ', 'time ']
const body = JSON.stringify({ ...question, stream: true })
/** Tokens of the prompt, as the gateway estimates them. */
const promptTokens = Math.ceil(Buffer.byteLength(body) / 4)
const counted = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 }
const usageFrame = `data: ${JSON.stringify({ choices: [], usage: counted })}\n\n`
const endFrame = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`

interface Moment {
  readonly name: string
  /** The frames that the vendor has sent by then. */
  readonly frames: readonly string[]
  readonly whole?: boolean
  /** What the client waits for before it disconnects. */
  readonly seen: string
  /** The expected receipt, at one micro-unit per token. */
  readonly charged: { readonly cost: number; readonly basis: string; readonly outcome: string }
}

const cancelled = (basis: string, cost: number) => ({ basis, cost, outcome: 'cancelled' })

const moments: readonly Moment[] = [
  {
    name: 'after the first content',
    frames: words.slice(0, 1).map(frame),
    seen: 'Once ',
    charged: cancelled('delivered', promptTokens + 2),
  },
  {
    name: 'after four words',
    frames: words.map(frame),
    seen: 'time ',
    charged: cancelled('delivered', promptTokens + 5),
  },
  {
    name: 'after the vendor has reported usage',
    frames: [...words.map(frame), endFrame, usageFrame, frame('late ')],
    seen: '"finish_reason":"stop"',
    charged: cancelled('reported', 30),
  },
  {
    name: 'after the whole response',
    frames: [...words.map(frame), endFrame, usageFrame, 'data: [DONE]\n\n'],
    whole: true,
    seen: '[DONE]',
    charged: { basis: 'reported', cost: 30, outcome: 'completed' },
  },
]

interface Reading {
  until(text: string): Promise<unknown>
  disconnect(): unknown
}

/** One way to read a response, and to disconnect. */
interface Way {
  readonly name: string
  ask(): Promise<Reading>
}

const ledger = memoryLedger()
await ledger.open({ id: 'acme', unlimited: true })
const receipts: Receipt[] = []
let wake = () => {}
const hosted = await hostedGateway(
  {
    keys: { 'sk-hosted': { account: 'acme' } },
    billing: { currency: 'CNY', unpriced: 'free' },
    storage: { ledger, usage: memoryUsageStore() },
    hooks: { receipt: (receipt) => (receipts.push(receipt), wake()) },
  },
  { price: { input: '1', output: '1' } },
)
const running: RunningHost[] = []

const target = '/v1/chat/completions'

const hostWays: readonly Way[] = plainHosts.map((host, index) => ({
  name: `a cut connection, ${host.name}`,
  async ask() {
    const answer = await open(running[index] as RunningHost, { method: 'POST', target, headers: jsonHeaders, body })
    return answer
  },
}))

/** In the gateway's own process there are two ways to disconnect. */
const fetchWays: readonly Way[] = (['request.signal', 'reader.cancel()'] as const).map((name) => ({
  name: `${name}, fetch in one process`,
  async ask() {
    const client = new AbortController()
    const init = { method: 'POST', headers: jsonHeaders, body, signal: client.signal }
    const response = await mount(hosted.gateway)(new Request(`http://host${target}`, init))
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let text = ''
    return {
      async until(part) {
        while (!text.includes(part)) {
          const { done, value } = await reader.read()
          if (done) throw new Error(`the response ended early: ${text}`)
          text += Buffer.from(value).toString()
        }
      },
      disconnect: () => (name === 'request.signal' ? client.abort() : void reader.cancel()),
    }
  },
}))

beforeAll(async () => {
  for (const host of plainHosts) running.push(await host.start(hosted.gateway))
})

afterAll(async () => {
  await Promise.all(running.map((host) => host.close()))
  await hosted.close()
})

/** Resolves with the receipt of the running request. */
async function nextReceipt(): Promise<Receipt> {
  while (receipts.length === 0) await new Promise<void>((resolve) => (wake = resolve))
  return receipts.shift() as Receipt
}

const raw = (host: RunningHost) => {
  const path = `${host.path}${target}`
  if (!host.http2) {
    const sent = request({
      host: '127.0.0.1',
      port: host.port,
      method: 'POST',
      path,
      headers: jsonHeaders,
      agent: false,
    })
    sent.on('error', () => undefined).end(body)
    return () => void sent.destroy()
  }
  const session = connect(`http://127.0.0.1:${host.port}`)
  const stream = session.request({ ':method': 'POST', ':path': path, ...jsonHeaders })
  stream.on('error', () => undefined).end(body)
  return () => {
    stream.close(8 /* CANCEL */)
    session.close()
  }
}

test.each(plainHosts.map(({ name }, index) => ({ name, index })))(
  'a client that disconnects before the first content pays for its prompt, $name',
  async ({ index }) => {
    const called = Promise.withResolvers<void>()
    hosted.vendor.reply = () => called.resolve()
    const disconnect = raw(running[index] as RunningHost)
    await called.promise
    disconnect()
    const { outcome, charge } = await nextReceipt()
    expect([outcome, charge?.basis, Math.round(Number(charge?.cost) * 1e6)]).toEqual([
      'cancelled',
      'sent',
      promptTokens,
    ])
  },
)

describe.each([...hostWays, ...fetchWays])('a client that disconnects by $name', (way) => {
  test.each(moments)('$name is charged $charged.cost on the basis "$charged.basis"', async (moment) => {
    const { frames, whole, seen, charged } = moment
    const answering = Promise.withResolvers<ServerResponse>()
    hosted.vendor.reply = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (whole === true) response.end(frames.join(''))
      else response.write(frames.join(''))
      answering.resolve(response)
    }
    const answer = await way.ask()
    await answer.until(seen)
    answer.disconnect()
    const receipt = await nextReceipt()
    expect({
      outcome: receipt.outcome,
      basis: receipt.charge?.basis,
      cost: Math.round(Number(receipt.charge?.cost) * 1e6),
    }).toEqual(charged)
    ;(await answering.promise).destroy()
    expect(receipts).toEqual([])
  })
})
