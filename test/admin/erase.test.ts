/** Erasing an account deletes what is kept of it for later requests: responses, idempotent responses, videos. */
import { expect, onTestFinished, test } from 'vitest'
import {
  createGateway,
  memoryIdempotencyStore,
  memoryLedger,
  memoryResponseStore,
  memoryTaskStore,
  type Gateway,
  type StorageBundle,
} from '../../src/index.ts'
import { demo } from '../../src/providers/index.ts'
import { methodsOf } from '../testing/faults.ts'

const clock = () => 1_000

/** The keys of these gateways can only be removed from the options. */
const inOptions = { kind: 'keys' }

function storageOf(): Required<Pick<StorageBundle, 'responses' | 'idempotency' | 'tasks'>> {
  return { responses: memoryResponseStore(), idempotency: memoryIdempotencyStore(), tasks: memoryTaskStore() }
}

function serviceOn(storage: StorageBundle): Gateway {
  const keys = { 'sk-ada': { account: 'ada' }, 'sk-bob': { account: 'bob' } }
  const models = {
    m: { provider: demo({ paceMs: 0 }), price: { input: '1', output: '1' } },
    'demo-video-landscape': { provider: demo({ videoSeconds: 0 }), price: { second: '1' } },
  }
  const billing = storage.ledger && { billing: { currency: 'EUR' } }
  const gateway = createGateway({ models, keys, storage, clock, ...billing })
  onTestFinished(() => gateway.close())
  return gateway
}

async function send(gateway: Gateway, key: string, method: string, path: string, body?: object) {
  const reply = await gateway.handle({
    method,
    target: `/v1/${path}`,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(path === 'responses' && { 'idempotency-key': 'k' }),
    },
    body: { state: 'text', text: body === undefined ? '' : JSON.stringify(body) },
    signal: new AbortController().signal,
  })
  return { status: reply.status, body: JSON.parse(reply.body as string) as { id: string } }
}

/** Makes a response with an idempotency key, and a video, and returns their ids. */
async function used(gateway: Gateway, key: string): Promise<{ response: string; video: string }> {
  const response = await send(gateway, key, 'POST', 'responses', { model: 'm', input: 'secret of a person' })
  const video = { model: 'demo-video-landscape', prompt: 'secret of a person', duration: 5 }
  const { body } = await send(gateway, key, 'POST', 'videos/generations', video)
  expect(response.status).toBe(200)
  return { response: response.body.id, video: body.id }
}

async function attemptOf({ idempotency }: ReturnType<typeof storageOf>, account: string): Promise<string> {
  const place = { account, route: 'responses', key: 'k', attempt: 'later', digest: 'd', leaseMs: 1_000 }
  return (await idempotency.begin(place)).outcome
}

function without<Store extends object>(store: Store, method: keyof Store): Store {
  return Object.fromEntries(Object.entries(store).filter(([name]) => name !== method)) as Store
}

test('responses, idempotent responses and videos of an erased account are deleted, and those of others stay', async () => {
  const storage = storageOf()
  const gateway = serviceOn(storage)
  const [ada, bob] = [await used(gateway, 'sk-ada'), await used(gateway, 'sk-bob')]
  expect(await storage.responses.get('ada', ada.response)).toBeDefined()
  expect(await storage.tasks.find('ada', ada.video, clock())).toBeDefined()
  expect((await gateway.admin.erase('ada')).left).toEqual([inOptions])
  expect(await storage.responses.get('ada', ada.response)).toBeUndefined()
  expect(await storage.tasks.find('ada', ada.video, clock())).toBeUndefined()
  expect(await attemptOf(storage, 'ada')).toBe('begun')
  expect(await storage.responses.get('bob', bob.response)).toBeDefined()
  expect(await storage.tasks.find('bob', bob.video, clock())).toBeDefined()
  expect(await attemptOf(storage, 'bob')).toBe('ended')
})

test('alerts of an erased account are deleted before they are sent or listed, and those of others stay', async () => {
  const ledger = memoryLedger()
  const { caps } = ledger
  if (caps === undefined) throw new Error('no caps')
  const gateway = serviceOn({ ledger })
  for (const account of ['ada', 'bob']) {
    await ledger.credit({ account, amount: 10n, reference: account })
    const balanceThresholds = [{ id: `low ${account}`, at: 9n, notice: '{"type":"balance.low","level":"9"}' }]
    await ledger.settle({ id: `req_${account}`, account, amount: 5n, balanceThresholds })
  }
  expect((await gateway.admin.erase('ada')).left).toEqual([inOptions])
  expect((await gateway.admin.alerts.list({ all: true })).items).toMatchObject([{ account: 'bob' }])
  expect(await caps.claimNotices(10, 1_000)).toMatchObject([{ account: 'bob' }])
})

test('what a store cannot delete is named, with the time when it expires', async () => {
  const storage = storageOf()
  const ledger = memoryLedger()
  const { caps } = ledger
  if (caps === undefined) throw new Error('no caps')
  const { left } = await serviceOn({
    responses: without(storage.responses, 'deleteAll'),
    idempotency: without(storage.idempotency, 'deleteAll'),
    tasks: without(storage.tasks, 'list'),
    ledger: { ...methodsOf(ledger), caps: without(methodsOf(caps), 'deleteNotices') },
  }).admin.erase('ada')
  const day = 86_400_000
  expect(left).toEqual([
    { kind: 'responses' },
    { kind: 'idempotency', until: clock() + day },
    { kind: 'alerts', until: clock() + 35 * day },
    { kind: 'videos', until: clock() + day },
    inOptions,
  ])
})

test('a store that deletes in steps is called until nothing is left', async () => {
  const storage = storageOf()
  let steps = 3
  const responses = { ...storage.responses, deleteAll: async () => --steps > 0 }
  await serviceOn({ ...storage, responses }).admin.erase('ada')
  expect(steps).toBe(0)
})

test('more videos than a page of the list are removed', async () => {
  const storage = storageOf()
  const gateway = serviceOn(storage)
  const { video } = await used(gateway, 'sk-ada')
  const task = await storage.tasks.find('ada', video, clock())
  if (task === undefined) throw new Error('no task')
  for (let index = 0; index < 150; index++) await storage.tasks.insert({ ...task, id: `video_${index}`, version: 1 })
  await gateway.admin.erase('ada')
  expect(await storage.tasks.list?.('ada', { now: clock(), limit: 5, order: 'asc' })).toEqual([])
})
