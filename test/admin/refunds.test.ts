/** A refund in another process than the one that has served the request. */
import { describe, expect, test } from 'vitest'
import { memoryLedger, memoryTaskStore, memoryUsageStore, type StorageBundle } from '../../src/index.ts'
import { defineProvider } from '../../src/providers/index.ts'
import { scene, whole } from '../admission/scene.ts'
import { everyBundle } from '../every-bundle.ts'
import { askChat, hostedWith } from '../hosted.ts'
import { storeTimeouts } from '../patience.ts'

describe.each(everyBundle())('%s', (_, available, open) => {
  test.skipIf(!available).each([
    ['its usage records', false],
    ['usage records in the memory of each process', true],
  ])('with %s, any process refunds a request, once', async (__, isAlone) => {
    const gateway = async () => {
      const storage = await open()
      const usage = isAlone ? { usage: memoryUsageStore() } : {}
      return scene(whole, { billing: { currency: 'CNY' }, storage: { ...storage, ...usage } })
    }
    const [here, there] = [await gateway(), await gateway()]
    const { accounts } = there.gateway.admin
    await accounts.topUp({ account: 'acme', amount: '1', reference: `start-${isAlone}` })
    const start = { balance: (await accounts.find('acme'))?.balance, held: '0' }
    const response = await askChat(here.url)
    await response.body?.cancel()
    const request = response.headers.get('x-request-id') as string
    const refund = (account: string, amount?: string) =>
      accounts.refund({ account, request, reason: 'blurred', ...(amount !== undefined && { amount }) })
    await expect.poll(async () => refund('acme', '9').catch(({ status }: { status: number }) => status)).toBe(400)
    await expect(refund('other')).rejects.toMatchObject({ status: 404 })
    expect(await refund('acme')).toMatchObject({ repeated: false })
    expect(await here.gateway.admin.accounts.refund({ account: 'acme', request, reason: 'again' })).toMatchObject({
      repeated: true,
    })
    expect(await accounts.find('acme')).toMatchObject(start)
    await expect(accounts.refund({ account: 'acme', request: 'req_none', reason: 'x' })).rejects.toMatchObject({
      status: 404,
    })
  })
})

const studio = defineProvider({
  name: 'studio',
  video: {
    submit: 'token',
    start: async () => ({ job: 1 }),
    check: async () => ({ state: 'completed', url: 'https://vendor.example/1.mp4' }),
  },
})

const inMemory = async (): Promise<StorageBundle> => ({ ledger: memoryLedger(), tasks: memoryTaskStore() })
const everyStorage = everyBundle().map(([kind, available, open]) => ({ kind, available, open }))

test.for([{ kind: 'memory', available: true, open: inMemory }, ...everyStorage])(
  '$kind: a refund of a video frees the caps that its charge counts in',
  async ({ available, open }, { skip }) => {
    skip(!available)
    const storage = await open()
    const { url, gateway } = await hostedWith({
      keys: { 'sk-test': { account: 'films' } },
      models: { film: { provider: studio, price: { second: '0.1' } } },
      billing: { currency: 'EUR', caps: [{ name: 'monthly', period: 'month', money: '1', calls: 9 }] },
      storage: { ...storage, usage: memoryUsageStore() },
      timeouts: storeTimeouts,
    })
    const { accounts, caps } = gateway.admin
    await accounts.topUp({ account: 'films', amount: '1', reference: 'start-films' })
    const ask = (path: string, body?: object) =>
      fetch(`${url}/v1${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    const response = await ask('/videos', { model: 'film', prompt: 'a sun', seconds: '5' })
    const request = response.headers.get('x-request-id') as string
    const { id } = (await response.json()) as { id: string }
    const used = async () => (await caps.list({ account: 'films' }))[0]?.used
    const task = await storage.tasks?.find('films', id, Date.now())
    if (task !== undefined) await storage.tasks?.replace({ ...task, version: task.version + 1, dueAt: 0 })
    await expect.poll(async () => (await ask(`/videos/${id}`)).text()).toContain('"completed"')
    await expect.poll(used).toMatchObject({ money: '0.5', calls: 1 })
    await accounts.refund({ account: 'films', request, amount: '0.2', reason: 'blurred' })
    expect(await used()).toMatchObject({ money: '0.3' })
  },
)
