/** Every `x-request-id` of a response that repeats or tells of earlier work leads to the record of that work. */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  createGateway,
  memoryIdempotencyStore,
  memoryLedger,
  memoryTaskStore,
  memoryUsageStore,
  type GatewayOptions,
  type IdempotencyStore,
  type StorageBundle,
  type TaskStore,
} from '../../../src/index.ts'
import { defineProvider, finish, retrySame, text, type VideoStatus } from '../../../src/providers/index.ts'
import { GatewayError } from '../../../src/errors.ts'
import { served } from '../../admin/api/served.ts'
import { everyBundle } from '../../every-bundle.ts'
import { hosted } from '../../hosted.ts'
import { storeTimeouts } from '../../patience.ts'

const own = /^req_[0-9a-f]{32}$/
const repeating = /^req_[0-9a-f]{32}\.req_[0-9a-f]{32}$/

const price = { input: '1000', output: '1000', image: '0.01', second: '0.01' }

/** Whether the vendor has finished its videos. */
const studio = { done: false }

const vendor = defineProvider({
  name: 'vendor',
  async *generate() {
    yield text('hello')
    yield finish('stop', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })
  },
  generateImages: () => {
    throw retrySame(new Error('no response'))
  },
  video: {
    submit: 'token',
    async start({ request }) {
      if (request.prompt === 'forbidden') throw new GatewayError('invalid_request_error')
      return { job: 1 }
    },
    check: async (): Promise<VideoStatus> =>
      studio.done ? { state: 'completed', url: 'https://vendor.example/1.mp4' } : { state: 'processing' },
  },
})

async function process(storage: StorageBundle, account: string, changes: Partial<GatewayOptions> = {}) {
  const gateway = createGateway({
    keys: { 'sk-test': { account } },
    models: {
      m: { provider: vendor, price },
      picture: { provider: vendor, price },
      film: { provider: vendor, price },
    },
    billing: { currency: 'EUR' },
    retry: { maxAttempts: 1 },
    timeouts: storeTimeouts,
    storage,
    ...changes,
  })
  const url = await hosted(gateway)
  const ask = async (path: string, body?: object, key?: string) => {
    const response = await fetch(`${url}/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: 'Bearer sk-test',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, id: response.headers.get('x-request-id') ?? '', text }
  }
  const chat = (key: string, stream = false) =>
    ask('/chat/completions', { model: 'm', stream, messages: [{ role: 'user', content: 'hi' }] }, key)
  const film = (prompt: string, key?: string) => ask('/videos', { model: 'film', prompt, seconds: '5' }, key)
  const { accounts, usage } = gateway.admin
  const found = async (id: string) => {
    await expect.poll(() => usage.find(id), { timeout: 20_000 }).toBeDefined()
    return usage.find(id)
  }
  const lines = async () => (await usage.list({ account })).items
  return { gateway, accounts, usage, ask, chat, film, found, lines }
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** Makes the next check of a task due. */
async function due(tasks: TaskStore, account: string, id: string): Promise<void> {
  const stored = await tasks.find(account, id, Date.now())
  if (stored === undefined) throw new Error('no such task')
  await tasks.replace({ ...stored, version: stored.version + 1, dueAt: 0 })
}

const memory = () => ({ ledger: memoryLedger(), tasks: memoryTaskStore(), idempotency: memoryIdempotencyStore() })

async function pair(storage: () => Promise<StorageBundle> | StorageBundle, changes?: Partial<GatewayOptions>) {
  const account = `account-${randomUUID()}`
  const usage = memoryUsageStore()
  const shared = async () => ({ usage, ...(await storage()) })
  const [here, there] = [
    await process(await shared(), account, changes),
    await process(await shared(), account, changes),
  ]
  await here.accounts.topUp({ account, amount: '100', reference: randomUUID() })
  return { account, here, there }
}

const inMemory = memory()
const kinds = everyBundle().map(([kind, available, open]) => ({ kind: kind as string, available, open: () => open() }))

describe.each([{ kind: 'memory', available: true, open: async () => inMemory }, ...kinds])(
  '$kind:',
  ({ available, open }) => {
    test.skipIf(!available).for([false, true])('a replayed response (stream: %s)', async (stream) => {
      const { here, there } = await pair(open)
      const first = await here.chat('k', stream)
      const { id } = (await here.found(first.id)) ?? {}
      expect([id, first.id]).toEqual([first.id, expect.stringMatching(own)])
      for (const process of [here, there]) {
        const again = await process.chat('k', stream)
        expect([again.status, again.text]).toEqual([200, first.text])
        expect(again.id).toMatch(repeating)
        expect(await process.usage.find(again.id)).toMatchObject({
          id,
          model: 'm',
          outcome: 'completed',
          cost: '0.015',
        })
      }
      expect(await here.lines()).toHaveLength(1)
    })

    test.skipIf(!available)('a failure that is repeated until the client uses a new key', async () => {
      const { here, there } = await pair(open)
      const draw = ({ ask }: typeof here) => ask('/images/generations', { model: 'picture', prompt: 'x' }, 'k')
      const first = await draw(here)
      const { id } = (await here.found(first.id)) ?? {}
      const again = await draw(there)
      expect([first.status, again.status, again.id]).toEqual([503, 503, expect.stringMatching(repeating)])
      expect(await there.usage.find(again.id)).toMatchObject({ id, model: 'picture', outcome: 'failed' })
      expect(await here.lines()).toHaveLength(1)
    })

    test.skipIf(!available)(
      'a video: its submission, also repeated, its polls and its file, in any process',
      async () => {
        const { here, there, account } = await pair(open)
        studio.done = false
        const first = await here.film('a hatch', 'k')
        expect([first.status, first.id]).toEqual([200, expect.stringMatching(own)])
        const { id: video } = JSON.parse(first.text) as { id: string }
        const repeated = await there.film('a hatch', 'k')
        await due((await open()).tasks, account, video)
        studio.done = true
        const poll = () => there.ask(`/videos/${video}`)
        await expect.poll(async () => (await poll()).text, { timeout: 20_000 }).toContain('completed')
        const polled = await poll()
        const record = await there.found(first.id)
        expect(record).toMatchObject({
          id: first.id,
          account,
          model: 'film',
          outcome: 'completed',
          seconds: 5,
          cost: '0.05',
        })
        for (const { id } of [repeated, polled]) {
          expect(id).toMatch(repeating)
          expect(await here.usage.find(id)).toEqual(record)
        }
        expect(await here.lines()).toHaveLength(1)
        const differences = here.accounts.differences({ account, from: 0, to: Date.now() + 3_600_000 })
        expect(await allOf(differences)).toEqual([])
        // Whatever id a customer names, the request is refunded once.
        const refund = (request: string) => here.accounts.refund({ account, request, reason: 'blurred' })
        expect(await refund(polled.id)).toMatchObject({ repeated: false })
        expect(await refund(first.id)).toMatchObject({ repeated: true })
      },
    )

    test.skipIf(!available)('a video that the vendor rejects has one line', async () => {
      const { here, there } = await pair(open)
      const first = await here.film('forbidden', 'k')
      const again = await there.film('forbidden', 'k')
      expect([first.status, again.status]).toEqual([400, 400])
      expect(first.id).toMatch(own)
      expect(again.id).toMatch(repeating)
      const record = await there.found(first.id)
      expect(record).toMatchObject({ id: first.id, outcome: 'failed' })
      expect(await there.usage.find(again.id)).toEqual(record)
      // A refusal would be recorded before a later request.
      const { id } = await there.ask('/videos', { model: 'none', prompt: 'x' })
      await there.found(id)
      expect((await here.lines()).map(({ outcome }) => outcome).sort()).toEqual(['failed', 'refused'])
    })
  },
)

test('a response that an earlier version has stored is replayed with an id of its own', async () => {
  const store = memoryIdempotencyStore()
  const idempotency: IdempotencyStore = {
    begin: (start) => store.begin(start),
    forget: (claim) => store.forget(claim),
    finish({ answer, ...end }) {
      const { 'x-request-id': _, ...headers }: Record<string, string> = answer?.headers ?? {}
      return store.finish({ ...end, ...(answer && { answer: { ...answer, headers } }) })
    },
  }
  const { here } = await pair(() => ({ ...memory(), idempotency }))
  const first = await here.chat('k')
  const again = await here.chat('k')
  expect([again.status, again.text, again.id]).toEqual([200, first.text, expect.stringMatching(own)])
  expect(again.id).not.toBe(first.id)
})

test('an account does not reach the line of another by such an id', async () => {
  const { here, account } = await pair(memory)
  const first = await here.chat('k')
  await here.found(first.id)
  const { id } = await here.chat('k')
  const { ask } = await served(here.gateway)
  const get = async (as: string, wanted: string) => {
    const { status, json } = await ask(as, `/requests/${wanted}`)
    return [status, json.id]
  }
  expect(await get(account, id)).toEqual([200, first.id])
  for (const wanted of [first.id, id, `${first.id}.req_${'0'.repeat(32)}`])
    expect(await get('other', wanted)).toEqual([404, undefined])
})
