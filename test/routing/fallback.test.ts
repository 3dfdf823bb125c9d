import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { AttemptEvent, GatewayOptions } from 'modelhatch'
import { openai } from 'modelhatch/providers'
import type { ScriptedVendor, VendorReply } from 'modelhatch/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { askChat, hostedWith, vendorFor, type Hosted } from '../hosted.ts'

const chunk = (delta: object, finish: string | null = null) => {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finish }
  return `data: ${JSON.stringify({ id: 'x', created: 1, model: 'v', choices: [choice] })}\n\n`
}

/** Responds with `name`. */
const replying =
  (name: string): VendorReply =>
  ({ json }, response) => {
    if ((json as { stream?: boolean }).stream === true) {
      response.setHeader('content-type', 'text/event-stream')
      response.end(`${chunk({ content: name })}${chunk({}, 'stop')}data: [DONE]\n\n`)
    } else {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ choices: [{ message: { content: name }, finish_reason: 'stop' }] }))
    }
  }

const rejecting =
  (status: number, headers: Record<string, string> = {}): VendorReply =>
  (_, response) =>
    void response.writeHead(status, headers).end('{}')

interface Route extends Hosted {
  readonly first: ScriptedVendor
  readonly second: ScriptedVendor
}

/** A model with a route of two vendors. */
async function route(reply: VendorReply, options: Partial<GatewayOptions> = {}): Promise<Route> {
  const [first, second] = [await vendorFor(reply), await vendorFor(replying('second'))]
  const steps = [first, second].map(({ baseURL }, index) => ({ provider: openai({ baseURL, name: `v${index + 1}` }) }))
  const hosted = await hostedWith({ models: { m: { route: steps } }, retry: { backoffMs: 1 }, ...options })
  return { ...hosted, first, second }
}

const requestCounts = ({ first, second }: Route) => [first.requests.length, second.requests.length]

describe.each([
  { kind: 'a non-streaming request', stream: false },
  { kind: 'a streaming request', stream: true },
])('$kind', ({ stream }) => {
  test('gets the response of the next vendor when the first fails twice', async () => {
    const routed = await route(rejecting(500))
    const response = await askChat(routed.url, { stream })
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('second')
    expect(requestCounts(routed)).toEqual([2, 1])
    expect(await routed.receipt()).toMatchObject({ outcome: 'completed', attempts: 3, provider: 'v2' })
  })

  test('gets the response of the first vendor on its second attempt', async () => {
    let tries = 0
    const routed = await route((request, response) =>
      (++tries === 1 ? rejecting(503) : replying('first'))(request, response),
    )
    expect(await (await askChat(routed.url, { stream })).text()).toContain('first')
    expect(requestCounts(routed)).toEqual([2, 0])
  })

  test.each([
    ['that rejects our key', rejecting(401)],
    ['that asks for a wait over maxWaitMs', rejecting(429, { 'retry-after': '30' })],
    ['that rejects for insufficient balance', rejecting(402)],
  ])('is sent to the next vendor immediately after one %s', async (_, reply) => {
    const routed = await route(reply)
    expect(await (await askChat(routed.url, { stream })).text()).toContain('second')
    expect(requestCounts(routed)).toEqual([1, 1])
  })

  test('gets the response of the next vendor when the first event of the first is an error', async () => {
    const routed = await route((_, response) => {
      response.setHeader('content-type', 'text/event-stream')
      response.end(`${chunk({ role: 'assistant' })}data: {"error":{"code":429,"message":"no"}}\n\n`)
    })
    const response = await askChat(routed.url, { stream })
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('second')
  })

  test('is not sent to another vendor when it is invalid', async () => {
    const routed = await route(rejecting(400))
    expect((await askChat(routed.url, { stream })).status).toBe(400)
    expect(requestCounts(routed)).toEqual([1, 0])
  })

  test('whose client disconnects during a wait is not sent again', async () => {
    const failed = Promise.withResolvers<void>()
    const routed = await route(
      (request, response) => {
        response.once('close', failed.resolve)
        rejecting(503)(request, response) as undefined
      },
      { retry: { backoffMs: 600_000, maxWaitMs: 600_000 } },
    )
    const disconnect = new AbortController()
    const pending = askChat(routed.url, { stream }, { signal: disconnect.signal })
    await failed.promise
    disconnect.abort()
    await expect(pending).rejects.toThrow('abort')
    expect(await routed.receipt()).toMatchObject({ outcome: 'cancelled', attempts: 1, usage: { total_tokens: 0 } })
    expect(requestCounts(routed)).toEqual([1, 0])
  })
})

test.each<[string, VendorReply, object]>([
  ['responded', replying('second'), { outcome: 'completed', usageSource: 'estimated' }],
  ['rejected', rejecting(400), { outcome: 'failed', usage: { total_tokens: 0 } }],
])(
  'usage reported by a vendor that failed is not on the receipt of the next one, which %s',
  async (_, reply, expected) => {
    const usage = { prompt_tokens: 900, completion_tokens: 99, total_tokens: 999 }
    const routed = await route((__, response) => {
      response.setHeader('content-type', 'text/event-stream')
      response.end(`data: ${JSON.stringify({ error: { code: 401 }, usage })}\n\n`)
    })
    routed.second.reply = reply
    await (await askChat(routed.url)).text()
    const receipt = await routed.receipt()
    expect(receipt).toMatchObject({ provider: 'v2', attempts: 2, ...expected })
    expect(receipt.usage.total_tokens).toBeLessThan(100)
  },
)

test('after the first token there is neither a retry nor a fallback', async () => {
  const routed = await route((_, response) => {
    response.setHeader('content-type', 'text/event-stream')
    response.end(chunk({ content: 'first' }))
  })
  const text = await (await askChat(routed.url, { stream: true })).text()
  expect(text).toMatch(/first.*"error":\{.*\n\n$/s)
  expect(requestCounts(routed)).toEqual([1, 0])
  expect(await routed.receipt()).toMatchObject({ outcome: 'failed', attempts: 1 })
})

test('a vendor that failed five times is skipped', async () => {
  const routed = await route(rejecting(500), { retry: { maxAttempts: 1 } })
  for (let call = 1; call <= 7; call++) expect((await askChat(routed.url)).status).toBe(200)
  expect(requestCounts(routed)).toEqual([5, 7])
})

describe('a vendor that is silent for long', () => {
  const opening = expect.stringMatching(/^data: .*"delta":\{"role":"assistant","content":""\}.*\n\n$/) as unknown
  const silence = expect.stringMatching(/^data: .*"delta":\{\},.*"finish_reason":null.*\n\n$/) as unknown
  const slowly = { timeouts: { keepAliveMs: 20 }, retry: { maxAttempts: 1 } }

  /** A streaming request to a vendor that responds once the test calls `respond`. */
  async function silent(reply: VendorReply) {
    const released = Promise.withResolvers<void>()
    const vendor = await vendorFor(async (request, response) => {
      await released.promise
      await reply(request, response)
    })
    const { url, receipt } = await hostedWith({ models: { m: openai({ baseURL: vendor.baseURL }) }, ...slowly })
    const response = await askChat(url, { stream: true })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const read = async () => Buffer.from((await reader.read()).value ?? []).toString('utf8')
    const rest = async () => {
      let text = ''
      for (let piece = await read(); piece !== ''; piece = await read()) text += piece
      return text
    }
    return { response, receipt, read, rest, respond: released.resolve }
  }

  test('is bridged by response headers and empty chunks until it responds', async () => {
    const { response, read, rest, respond, receipt } = await silent(replying('deep'))
    expect(response.status).toBe(200)
    expect([await read(), await read()]).toEqual([opening, silence])
    respond()
    expect(await rest()).toMatch(/"content":"deep".*\[DONE\]\n\n$/s)
    expect(await receipt()).toMatchObject({ outcome: 'completed' })
  })

  test('and then fails causes an error event, as the status was already sent', async () => {
    const { response, read, rest, respond, receipt } = await silent(rejecting(429))
    expect(response.status).toBe(200)
    expect(await read()).toEqual(opening)
    respond()
    expect(await rest()).toMatch(/data: \{"error":\{.*"code":"rate_limit_exceeded"\}\}\n\n$/)
    expect(await receipt()).toMatchObject({ outcome: 'failed', code: 'rate_limit_exceeded' })
  })

  test('is aborted after firstContentMs', async () => {
    const vendor = await vendorFor(() => undefined)
    const { url, receipt } = await hostedWith({
      models: { m: openai({ baseURL: vendor.baseURL }) },
      timeouts: { keepAliveMs: 20, firstContentMs: 100 },
    })
    const response = await askChat(url, { stream: true })
    expect(response.status).toBe(200)
    expect(await response.text()).toMatch(
      /^data: .*"content":"".*\n\n(data: .*"delta":\{\}.*\n\n)*data: \{"error":\{.*"code":"service_unavailable"\}\}\n\n$/,
    )
    expect(await receipt()).toMatchObject({ outcome: 'failed', code: 'service_unavailable', attempts: 1 })
    const [request] = vendor.requests
    if (request?.signal.aborted === false) await once(request.signal, 'abort')
  })

  test('in the middle of its response is aborted after idleMs', async () => {
    const vendor = await vendorFor((_, response) => {
      response.setHeader('content-type', 'text/event-stream')
      response.write('data: {"choices":[{"index":0,"delta":{"content":"deep"}}]}\n\n')
    })
    const { url, receipt } = await hostedWith({
      models: { m: openai({ baseURL: vendor.baseURL }) },
      timeouts: { keepAliveMs: 20, idleMs: 100 },
    })
    const response = await askChat(url, { stream: true })
    expect(await response.text()).toMatch(
      /"content":"deep".*\n\n(data: .*"delta":\{\}.*\n\n)+data: \{"error":\{.*"code":"service_unavailable"\}\}\n\n$/s,
    )
    expect(await receipt()).toMatchObject({ outcome: 'failed', code: 'service_unavailable' })
    const [request] = vendor.requests
    if (request?.signal.aborted === false) await once(request.signal, 'abort')
  })
})

function step({ baseURL }: ScriptedVendor, weight: number) {
  return { provider: openai({ baseURL }), order: 0, weight }
}

test('weights are drawn from the random source of the options', async () => {
  const [heavy, light] = [await vendorFor(replying('heavy')), await vendorFor(replying('light'))]
  // Two draws a request, one for each step: the light one is first only if its draw is much higher.
  const draws = [0.5, 0.5, 0.5, 0.9, 0.9, 0.5, 0.2, 0.6]
  const models = { m: { route: [step(heavy, 3), step(light, 1)] } }
  const { url } = await hostedWith({ models, affinity: 'none', random: () => draws.shift() as number })
  const chosen = []
  for (let call = 1; call <= 4; call++) chosen.push(/heavy|light/.exec(await (await askChat(url)).text())?.[0])
  expect(chosen).toEqual(['heavy', 'light', 'heavy', 'light'])
})

function attemptEvents(): readonly AttemptEvent[] {
  const events: AttemptEvent[] = []
  const listener = (message: unknown) => void events.push(message as AttemptEvent)
  subscribe('modelhatch:attempt', listener)
  onTestFinished(() => void unsubscribe('modelhatch:attempt', listener))
  return events
}

test('each attempt is published with its outcome, also when a fallback succeeded', async () => {
  const events = attemptEvents()
  const routed = await route(rejecting(401))
  const response = await askChat(routed.url)
  expect(response.status).toBe(200)
  expect(events).toMatchObject([
    {
      id: response.headers.get('x-request-id'),
      model: 'm',
      provider: 'v1',
      providerModel: 'm',
      outcome: 'failed',
      ms: expect.any(Number),
      status: 401,
      error: { cause: { message: expect.stringContaining('the vendor answered 401') } },
    },
    { provider: 'v2', outcome: 'succeeded', ms: expect.any(Number) },
  ])
  expect(events[1]).not.toHaveProperty('error')
})

test('a request that a vendor rejects is published as rejected, not as failed', async () => {
  const events = attemptEvents()
  expect((await askChat((await route(rejecting(400))).url)).status).toBe(400)
  expect(events).toMatchObject([{ outcome: 'rejected', status: 400 }])
})

test('a failed deployment is skipped for coolDownMs, even if the system clock changes', async () => {
  const clock = Date.now
  let setForward = 0
  Date.now = () => clock() + setForward
  try {
    const routed = await route(rejecting(500), {
      retry: { maxAttempts: 1 },
      breaker: { failures: 1, coolDownMs: 600_000 },
    })
    await askChat(routed.url)
    setForward = 3_600_000
    expect((await askChat(routed.url)).status).toBe(200)
    expect(requestCounts(routed)).toEqual([1, 2])
  } finally {
    Date.now = clock
  }
})
