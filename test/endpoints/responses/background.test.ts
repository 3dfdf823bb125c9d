/** Responses in the background: polled, followed, cancelled, deleted and charged, also by another process. */
import { describe, expect, test } from 'vitest'
import { memoryLedger, memoryResponseStore, memoryTaskStore, type GatewayOptions } from 'modelhatch'
import { openai } from 'modelhatch/providers'
import { fresh } from '../../../src/testing/kit.ts'
import type { ResponseEvent, ResponseObject } from '../../../src/wire/responses.ts'
import { streamEvents } from '../../admission/scene.ts'
import { everyBundle } from '../../every-bundle.ts'
import { hostedWith, vendorFor } from '../../hosted.ts'
import { ask, errorOf, post } from '../ask.ts'
import { eventsOf, requireGood, responseFaults } from './rules.ts'

/** A vendor that sends the first events at once, and the rest when the test lets it. */
async function vendor() {
  const open: (() => void)[] = []
  let closed = 0
  const { baseURL, requests } = await vendorFor((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(streamEvents.slice(0, 2).join(''))
    response.on('close', () => void (response.writableFinished || closed++))
    open.push(() => void response.end(streamEvents.slice(2).join('')))
  })
  const finish = async () => {
    await expect.poll(() => open.length).toBeGreaterThan(0)
    for (const each of open.splice(0)) each()
  }
  return { baseURL, requests, finish, closed: () => closed }
}

type Vendor = Awaited<ReturnType<typeof vendor>>

/** One micro-unit a token; the vendor counts 30 tokens. */
async function gateway({ baseURL }: Pick<Vendor, 'baseURL'>, options: Partial<GatewayOptions> = {}) {
  const hosted = await hostedWith({
    keys: { 'sk-test': { account: 'ada' }, 'sk-other': { account: 'bob' } },
    models: { m: { provider: openai({ baseURL }), price: { input: '1', output: '1' } } },
    ...(options.storage?.ledger && { billing: { currency: 'USD' } }),
    retry: { maxAttempts: 1 },
    ...options,
  })
  const { url } = hosted
  const begin = async (body: object = {}) => {
    const { status, json } = await post(url, '/responses', { model: 'm', input: 'Hi', background: true, ...body })
    expect(status).toBe(200)
    return json as ResponseObject
  }
  const get = async (id: string) => (await ask(url, 'GET', `/responses/${id}`)).json as ResponseObject
  const ended = async (id: string) => {
    await expect.poll(async () => (await get(id)).status).not.toMatch(/queued|in_progress/)
    return get(id)
  }
  const events = async (id: string, after?: number) => {
    const from = after === undefined ? '' : `&starting_after=${after}`
    return ask(url, 'GET', `/responses/${id}?stream=true${from}`)
  }
  return { ...hosted, begin, get, ended, events }
}

async function paid(account = 'ada') {
  const ledger = memoryLedger()
  await ledger.credit({ account, amount: 1_000_000n, reference: fresh('credit').replace(' ', '-') })
  const open = async () => {
    const { balance = 0n, held = 0n } = (await ledger.account(account)) ?? {}
    return { spent: 1_000_000n - balance - held, held }
  }
  return { ledger, open }
}

describe('a response in the background', () => {
  test('is queued, then in progress, then complete, and charged once', async () => {
    const upstream = await vendor()
    const { ledger, open } = await paid()
    const { begin, get, ended, receipt } = await gateway(upstream, { storage: { ledger } })
    const queued = await begin()
    expect(queued).toMatchObject({ status: 'queued', background: true, store: true, output: [] })
    expect(responseFaults(queued)).toEqual([])
    expect((await get(queued.id)).status).toBe('in_progress')
    expect((await open()).held).toBeGreaterThan(0n)
    await upstream.finish()
    const done = await ended(queued.id)
    expect(done).toMatchObject({ id: queued.id, status: 'completed', background: true, usage: { total_tokens: 30 } })
    expect(responseFaults(done)).toEqual([])
    expect(await receipt()).toMatchObject({ outcome: 'completed', usage: { total_tokens: 30 } })
    await expect.poll(open).toEqual({ spent: 30n, held: 0n })
    expect(upstream.requests).toHaveLength(1)
    expect(upstream.requests[0]?.json).not.toHaveProperty('background')
  })

  test('goes on when its client leaves, and its stream is taken up again while it comes', async () => {
    const upstream = await vendor()
    const { url, events, get } = await gateway(upstream)
    const leaving = new AbortController()
    const response = await fetch(`${url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', input: 'Hi', background: true, stream: true }),
      signal: leaving.signal,
    })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let seen = ''
    while (!seen.includes('"delta":"two"')) {
      const { value, done } = await reader.read()
      if (done) throw new Error(seen)
      seen += Buffer.from(value).toString()
    }
    const { response: head } = JSON.parse(/data: (.*)/.exec(seen)?.[1] ?? '') as { response: ResponseObject }
    leaving.abort()
    const numbers = Array.from(seen.matchAll(/"sequence_number":(\d+)/g), ([, number]) => Number(number))
    const last = numbers.at(-1) as number
    const rest = events(head.id, last)
    await upstream.finish()
    const { text } = await rest
    const all = [...eventsOf(`${seen.slice(0, seen.lastIndexOf('\n\n') + 2)}data: [DONE]\n\n`), ...eventsOf(text)]
    expect(all.map(({ sequence_number: number }) => number)).toEqual(all.map((_, index) => index))
    const types = all.map(({ type }) => type)
    expect(types.slice(0, 3)).toEqual(['response.created', 'response.queued', 'response.in_progress'])
    expect(requireGood(renumbered(all))).toEqual(await get(head.id))
    const again = await events(head.id)
    expect(eventsOf(again.text)).toEqual(all)
    expect(eventsOf((await events(head.id, last)).text)).toEqual(eventsOf(text))
  })

  test('is cancelled once, pays for what was made, and stays cancelled', async () => {
    const upstream = await vendor()
    const { ledger, open } = await paid()
    const { url, begin, get, events, receipt } = await gateway(upstream, { storage: { ledger } })
    const { id } = await begin()
    await expect.poll(() => upstream.requests.length).toBe(1)
    const cancel = () => ask(url, 'POST', `/responses/${id}/cancel`)
    const [first, second] = [await cancel(), await cancel()]
    expect(first).toMatchObject({ status: 200, json: { id, status: 'cancelled' } })
    expect(responseFaults(first.json as ResponseObject)).toEqual([])
    expect(second.json).toEqual(first.json)
    expect((await receipt()).outcome).toBe('cancelled')
    await expect.poll(upstream.closed).toBe(1)
    await expect.poll(async () => (await open()).held).toBe(0n)
    expect((await get(id)).status).toBe('cancelled')
    expect((await events(id)).text).toMatch(/data: \[DONE\]\n\n$/)
    expect((await cancel()).json).toMatchObject({ status: 'cancelled' })
  })

  test('cannot be cancelled when it is complete: it stays as it is', async () => {
    const upstream = await vendor()
    const { url, begin, ended } = await gateway(upstream)
    const { id } = await begin()
    await upstream.finish()
    const done = await ended(id)
    expect((await ask(url, 'POST', `/responses/${id}/cancel`)).json).toEqual(done)
  })

  test('that fails has the reason, and costs nothing', async () => {
    const { baseURL } = await vendorFor((_, response) => void response.writeHead(503).end('{}'))
    const { ledger, open } = await paid()
    const { begin, ended, events } = await gateway({ baseURL }, { storage: { ledger } })
    const { id } = await begin()
    const failed = await ended(id)
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'server_error' }, output: [] })
    expect(responseFaults(failed)).toEqual([])
    const all = eventsOf((await events(id)).text)
    expect(all.at(-1)).toMatchObject({ type: 'response.failed', response: { status: 'failed' } })
    await expect.poll(open).toEqual({ spent: 0n, held: 0n })
  })

  test('is refused without money before it is queued', async () => {
    const upstream = await vendor()
    const { url } = await gateway(upstream, { storage: { ledger: memoryLedger() } })
    const refusal = await post(url, '/responses', { model: 'm', input: 'Hi', background: true })
    expect([refusal.status, errorOf(refusal).code]).toEqual([429, 'insufficient_quota'])
  })

  test('gives its hold and its place back if it cannot be stored', async () => {
    const upstream = await vendor()
    const { ledger, open } = await paid()
    const fail = async () => Promise.reject(new Error('down'))
    const background = { insert: fail, find: fail, replace: fail, claim: fail }
    const { url } = await gateway(upstream, {
      storage: { ledger, background },
      keys: { 'sk-test': { account: 'ada', rate: { concurrent: 1 } } },
    })
    const body = { model: 'm', input: 'Hi', background: true }
    for (let tries = 0; tries < 3; tries++) expect((await post(url, '/responses', body)).status).toBe(503)
    await expect.poll(open).toEqual({ spent: 0n, held: 0n })
    expect(upstream.requests).toEqual([])
  })

  test('that is deleted is cancelled, unknown at once, and not stored when it ends', async () => {
    const upstream = await vendor()
    const { url, begin, receipt } = await gateway(upstream)
    const { id } = await begin()
    expect((await ask(url, 'DELETE', `/responses/${id}`)).json).toEqual({ id, object: 'response', deleted: true })
    expect((await ask(url, 'GET', `/responses/${id}`)).status).toBe(404)
    expect((await receipt()).outcome).toBe('cancelled')
    await expect.poll(upstream.closed).toBe(1)
    expect((await ask(url, 'GET', `/responses/${id}`)).status).toBe(404)
  })

  test('is erased with its account', async () => {
    const upstream = await vendor()
    const {
      url,
      gateway: { admin },
      begin,
      ended,
      receipt,
    } = await gateway(upstream)
    const done = await begin()
    await upstream.finish()
    await ended(done.id)
    await receipt()
    const running = await begin()
    await admin.erase('ada')
    expect((await receipt()).outcome).toBe('cancelled')
    for (const { id } of [done, running]) expect((await ask(url, 'GET', `/responses/${id}`)).status).toBe(404)
  })

  test('of another account does not exist: the errors are identical', async () => {
    const upstream = await vendor()
    const { url, begin } = await gateway(upstream)
    const { id } = await begin()
    const unknown = id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '?stream=true'],
      ['POST', '/cancel'],
      ['GET', '/input_items'],
      ['DELETE', ''],
    ] as const) {
      const foreign = await ask(url, method, `/responses/${id}${path}`, undefined, 'sk-other')
      const absent = await ask(url, method, `/responses/${unknown}${path}`, undefined, 'sk-other')
      expect([foreign.status, foreign.text]).toEqual([404, absent.text.replaceAll(unknown, id)])
    }
  })

  test('extends its conversation when it is complete, and cannot be continued before', async () => {
    const upstream = await vendor()
    const { url, begin, ended } = await gateway(upstream)
    const { id: conversation } = (await ask(url, 'POST', '/conversations', {})).json as { id: string }
    const { id } = await begin({ conversation })
    const early = await post(url, '/responses', { model: 'm', input: 'x', previous_response_id: id })
    expect([early.status, errorOf(early).param]).toEqual([400, 'previous_response_id'])
    const list = async () =>
      ((await ask(url, 'GET', `/conversations/${conversation}/items?order=asc`)).json as { data: object[] }).data
    expect(await list()).toEqual([])
    await upstream.finish()
    const done = await ended(id)
    await expect.poll(list).toMatchObject([{ role: 'user' }, { id: done.output[0]?.id }])
    expect((await ask(url, 'GET', `/responses/${id}/input_items`)).json).toMatchObject({ data: [{ role: 'user' }] })
  })

  test.each([
    [{ store: false }, 'store'],
    [{ background: 'yes' }, 'background'],
  ])('is refused with %j', async (body, param) => {
    const { url } = await gateway(await vendor())
    const refusal = await post(url, '/responses', { model: 'm', input: 'Hi', background: true, ...body })
    expect([refusal.status, errorOf(refusal).param]).toEqual([400, param])
  })

  test('is begun once with an Idempotency-Key, streamed or not', async () => {
    const upstream = await vendor()
    const { url, ended } = await gateway(upstream)
    const send = async (key: string, stream: boolean) =>
      fetch(`${url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({ model: 'm', input: 'Hi', background: true, stream }),
      })
    const first = (await (await send('a', false)).json()) as ResponseObject
    expect(await (await send('a', false)).json()).toEqual(first)
    const streamed = await send('b', true)
    const again = await send('b', true)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    await expect.poll(() => upstream.requests.length).toBe(2)
    const rest = again.text()
    await upstream.finish()
    const text = await rest
    expect(requireGood(renumbered(eventsOf(text))).id).not.toBe(first.id)
    // It has ended when the second one began.
    await streamed.body?.cancel().catch(() => undefined)
    expect((await ended(first.id)).status).toBe('completed')
    expect(await (await send('b', true)).text()).toBe(text)
    expect(upstream.requests).toHaveLength(2)
  })

  test('that no client waits for ends with the shutdown, as failed', async () => {
    const upstream = await vendor()
    const { ledger, open } = await paid()
    const world = everyStore()
    const one = await gateway(upstream, { storage: { ledger, ...world } })
    const { id } = await one.begin()
    await expect.poll(() => upstream.requests.length).toBe(1)
    await one.gateway.close({ graceMs: 0 })
    const two = await gateway(upstream, { storage: { ledger, ...world } })
    expect(await two.get(id)).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
    expect((await open()).held).toBe(0n)
  })
})

/** Stores that outlive a gateway in this process. */
function everyStore() {
  const [responses, background] = [memoryResponseStore(), memoryTaskStore()]
  return {
    responses: { ...responses, close: () => undefined },
    background: { ...background, close: async () => undefined },
  }
}

/** The events without the one that only responses in the background have. */
function renumbered(events: readonly ResponseEvent[]): ResponseEvent[] {
  const usual = events.filter(({ type }) => type !== 'response.queued')
  return usual.map((event, index) => ({ ...event, sequence_number: index }))
}

describe.each(everyBundle())('sharing %s, a response that another gateway makes', (_, there, open) => {
  async function pair() {
    const upstream = await vendor()
    const account = fresh('ada').replace(' ', '-')
    const keys = { 'sk-test': { account } }
    const own = async () => gateway(upstream, { keys, storage: await open() })
    const [here, other] = [await own(), await own()]
    await here.gateway.admin.accounts.topUp({ account, amount: '1', reference: fresh('credit').replace(' ', '-') })
    return { upstream, here, other }
  }

  test.skipIf(!there)('is polled and followed', async () => {
    const { upstream, here, other } = await pair()
    const { id } = await here.begin()
    expect((await other.get(id)).status).toBe('in_progress')
    const following = other.events(id, 3)
    await upstream.finish()
    const done = await other.ended(id)
    expect(done).toEqual(await here.ended(id))
    const all = eventsOf((await here.events(id)).text)
    expect(requireGood(renumbered(all))).toEqual(done)
    expect(eventsOf((await following).text)).toEqual(all.slice(4))
  })

  test.skipIf(!there)('is cancelled', async () => {
    const { upstream, here, other } = await pair()
    const { id } = await here.begin()
    await expect.poll(() => upstream.requests.length).toBe(1)
    expect((await ask(other.url, 'POST', `/responses/${id}/cancel`)).json).toMatchObject({ status: 'cancelled' })
    expect((await here.receipt()).outcome).toBe('cancelled')
    expect((await here.get(id)).status).toBe('cancelled')
  })
})
