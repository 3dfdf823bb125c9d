/** A video outlives its request and its process: its polls are linked to the request that created it, in every store. */
import { SpanKind } from '@opentelemetry/api'
import { beforeAll, describe, expect, test } from 'vitest'
import { otel } from '../../../adapters/telemetry/otel/otel.ts'
import { createGateway, memoryTaskStore, type TaskStore } from '../../../src/index.ts'
import { gatewayVideo, type Provider } from '../../../src/providers/index.ts'
import { hosted, vendorFor } from '../../hosted.ts'
import { everyBundle } from '../../every-bundle.ts'
import { Sdk, withContexts, withinHost } from './sdk.ts'
import { storeTimeouts } from '../../patience.ts'

beforeAll(withContexts)

const submission = { model: 'film', prompt: 'a cat', duration: 5 }
const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }

/** A vendor whose videos are done once `finish` was called. */
async function studio() {
  let done = false
  const vendor = await vendorFor(({ method }, response) => {
    const status = method === 'POST' || !done ? 'pending' : 'completed'
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({ id: 'job-1', object: 'video.generation', status, video_url: 'https://example.com/v.mp4' }),
    )
  })
  return {
    vendor,
    provider: () => gatewayVideo({ baseURL: vendor.baseURL, submit: 'token' }),
    finish: () => void (done = true),
  }
}

interface Process {
  readonly sdk: Sdk
  readonly url: string
}

class Time {
  /** Milliseconds added to the clock. */
  passed = 0

  now(): number {
    return Date.now() + this.passed
  }
}

interface Circumstances {
  readonly time: Time
  readonly traced?: boolean
  readonly sweepMs?: number
}

async function processWith(provider: Provider, tasks: TaskStore, given: Circumstances): Promise<Process> {
  const { time, traced = true, sweepMs = 3_600_000 } = given
  const sdk = new Sdk()
  const { tracerProvider, meterProvider } = sdk
  const gateway = createGateway({
    keys: { 'sk-test': { account: 'acme' } },
    models: { film: provider },
    storage: { tasks },
    clock: () => time.now(),
    tasks: { sweepMs },
    timeouts: storeTimeouts,
    ...(traced && { telemetry: [otel({ tracerProvider, meterProvider, propagate: true })] }),
  })
  return { sdk, url: await hosted(gateway) }
}

async function submit({ url }: Process): Promise<string> {
  const response = await fetch(`${url}/v1/videos/generations`, {
    method: 'POST',
    headers,
    body: JSON.stringify(submission),
  })
  return ((await response.json()) as { id: string }).id
}

async function poll({ url }: Process, id: string): Promise<string> {
  const response = await fetch(`${url}/v1/videos/generations/${id}`, { headers })
  return ((await response.json()) as { status: string }).status
}

/** Opens the same store for each process. The gateways' own clock counts, so that no test waits for a poll to be due. */
type Open = () => Promise<TaskStore>

function withoutClock(store: TaskStore): TaskStore {
  return {
    insert: (task) => store.insert(task),
    find: (account, id, now) => store.find(account, id, now),
    replace: (task) => store.replace(task),
    claim: (claim) => store.claim(claim),
  }
}

const stores: [name: string, available: boolean, open: () => Open][] = [
  [
    'memory',
    true,
    () => {
      const store = withoutClock(memoryTaskStore())
      return async () => store
    },
  ],
  ...everyBundle().map(([kind, available, open]): [string, boolean, () => Open] => [
    kind,
    available,
    () => async () => withoutClock((await open()).tasks),
  ]),
]

describe.each(stores)('in %s', (_, available, opener) => {
  test.skipIf(!available)('polls in another process are linked to the request that created the video', async () => {
    const open = opener()
    const { vendor, provider, finish } = await studio()
    const time = new Time()
    const first = await processWith(provider(), await open(), { time })
    const second = await processWith(provider(), await open(), { time })
    const id = await submit(first)
    const [started, created] = await first.sdk.ended(2)
    expect(started).toMatchObject({ name: 'video_generation film', kind: SpanKind.CLIENT, parent: created?.id })
    expect(created).toMatchObject({ name: 'video_generation film', kind: SpanKind.SERVER, links: [] })
    expect(created?.attributes['modelhatch.task.id']).toBe(id)
    expect(vendor.requests[0]?.headers['traceparent']).toBe(`00-${started?.trace}-${started?.id}-01`)
    finish()
    time.passed = 60_000
    expect(await poll(second, id)).toBe('completed')
    const links = [`${created?.trace}-${created?.id}`]
    const [checked, polled] = await second.sdk.ended(2)
    expect(checked).toMatchObject({ name: 'video_check film', kind: SpanKind.CLIENT, parent: polled?.id, links })
    expect(polled).toMatchObject({ name: 'videos.generations.retrieve', links })
    expect(polled?.trace).not.toBe(created?.trace)
    expect(polled?.attributes['modelhatch.task.id']).toBe(id)
    expect(vendor.requests.at(-1)?.headers['traceparent']).toBe(`00-${checked?.trace}-${checked?.id}-01`)
    const counted = (await second.sdk.points()).get('modelhatch.tasks')
    expect(counted?.map(({ attributes }) => attributes)).toEqual([
      { 'modelhatch.event': 'completed', 'gen_ai.request.model': 'film' },
    ])
  })

  test.skipIf(!available)(
    'polls of a process that no client asks are traces of their own, with that link',
    async () => {
      const open = opener()
      const { provider, finish } = await studio()
      const time = new Time()
      const first = await processWith(provider(), await open(), { time })
      await submit(first)
      const [, created] = await first.sdk.ended(2)
      finish()
      time.passed = 60_000
      const second = await processWith(provider(), await open(), { time, sweepMs: 5 })
      const [checked] = await second.sdk.ended(1)
      expect(checked).toMatchObject({ name: 'video_check film', parent: undefined })
      expect(checked?.links).toEqual([`${created?.trace}-${created?.id}`])
    },
  )

  test.skipIf(!available)(
    'a task of a process without telemetry has no link, and one that it has advanced keeps its own',
    async () => {
      const open = opener()
      const { provider, finish } = await studio()
      const time = new Time()
      const before = await processWith(provider(), await open(), { time, traced: false })
      const after = await processWith(provider(), await open(), { time })
      const old = await submit(before)
      const own = await submit(after)
      const [, created] = await after.sdk.ended(2)
      time.passed = 20_000
      expect(await poll(before, own)).toBe('pending')
      finish()
      time.passed = 40_000
      expect([await poll(after, old), await poll(after, own)]).toEqual(['completed', 'completed'])
      const [checkedOld, , checkedOwn] = (await after.sdk.ended(6)).slice(2)
      expect(checkedOld).toMatchObject({ name: 'video_check film', links: [] })
      expect(checkedOwn).toMatchObject({ name: 'video_check film', links: [`${created?.trace}-${created?.id}`] })
    },
  )
})

test('a sweep that a request has started is not part of the trace of that request', async () => {
  const { provider, finish } = await studio()
  const time = new Time()
  const sdk = new Sdk()
  const { tracerProvider, meterProvider } = sdk
  const gateway = createGateway({
    keys: { 'sk-test': { account: 'acme' } },
    models: { film: provider() },
    clock: () => time.now(),
    tasks: { sweepMs: 5 },
    telemetry: [otel({ tracerProvider, meterProvider })],
  })
  const exchange = {
    method: 'POST',
    target: '/v1/videos/generations',
    headers,
    body: { state: 'parsed', value: submission },
    signal: new AbortController().signal,
  } as const
  await withinHost(sdk, () => gateway.handle(exchange))
  finish()
  time.passed = 60_000
  const checked = (await sdk.ended(4)).at(-1)
  expect(checked).toMatchObject({ name: 'video_check film', parent: undefined })
  expect(checked?.links.length).toBe(1)
  await gateway.close({ graceMs: 0 })
})
