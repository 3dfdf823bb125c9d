/** Faults of budgets that users of other gateways report, each named after its thread. */
import { expect, test } from 'vitest'
import { createGateway, memoryLedger, type GatewayOptions, type Ledger } from '../../src/index.ts'
import { defineProvider, retrySame } from '../../src/providers/index.ts'
import { askInProcess } from '../../src/testing/in-process.ts'
import { usage } from './scene.ts'

const content = { choices: [{ index: 0, delta: { content: 'Hi' } }] }
const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' as const }], usage }

type Hold = Parameters<Ledger['hold']>[0]

/** The model `model` costs a micro-unit a token, 30 for each call, of which at most `held` are held. */
function world(paid: bigint, chat: () => AsyncGenerator<object>, options: Partial<GatewayOptions> = {}) {
  const ledger = memoryLedger()
  const holds: Hold[] = []
  const observed = Object.assign(Object.create(ledger) as typeof ledger, {
    hold: (hold: Hold) => {
      holds.push(hold)
      return ledger.hold(hold)
    },
    settle: ledger.settle.bind(ledger),
    release: ledger.release.bind(ledger),
    renew: ledger.renew.bind(ledger),
    account: ledger.account.bind(ledger),
    caps: ledger.caps,
  })
  const provider = defineProvider({ name: 'vendor', chat: chat as never })
  const open = () =>
    createGateway({
      keys: { 'sk-kit': { account: 'acme' } },
      models: {
        model: { provider, price: { input: '1', output: '1', serviceTiers: { flex: '0.5', priority: '10' } } },
      },
      billing: { currency: 'EUR' },
      retry: { maxAttempts: 1 },
      ...options,
      storage: { ledger: observed },
    })
  void ledger.credit({ account: 'acme', amount: paid, reference: 'first' })
  const gateway = open()
  const ask = (more: object = {}, signal?: AbortSignal, of = gateway) =>
    askInProcess(
      of,
      { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 20, ...more },
      signal === undefined ? {} : { signal },
    )
  return { ledger, holds, open, ask }
}

async function* whole(): AsyncGenerator<object> {
  yield content
  yield end
}

test('litellm PR 30519, 30522, 36592: nothing stays reserved for a client that leaves', async () => {
  const left = new AbortController()
  const { ledger, ask, holds } = world(10_000n, async function* () {
    yield content
    left.abort()
    await new Promise(() => undefined)
  })
  void ask({ stream: true }, left.signal).catch(() => undefined)
  await expect.poll(() => holds.length).toBe(1)
  await expect.poll(async () => (await ledger.account('acme'))?.held).toBe(0n)
  expect((await ledger.audit()).faults).toEqual([])
})

test('otari#128: nothing stays reserved if a stream fails before its first chunk', async () => {
  // oxlint-disable-next-line require-yield -- it only throws
  const { ledger, ask, holds } = world(10_000n, async function* () {
    throw retrySame(new Error('the vendor is down'))
  })
  expect((await ask({ stream: true })).status).toBe(503)
  expect(holds).toHaveLength(1)
  await expect.poll(async () => (await ledger.account('acme'))?.held).toBe(0n)
  expect(await ledger.account('acme')).toMatchObject({ balance: 10_000n })
})

test('litellm#40050, #27735: a balance is refused only when less than a call is left, without a shared store', async () => {
  const { ledger, ask, holds } = world(1_000n, whole)
  let served = 0
  while ((await ask({ service_tier: 'default' })).status === 200) served++
  const { balance = 0n } = (await ledger.account('acme')) ?? {}
  expect(balance).toBe(1_000n - 30n * BigInt(served))
  expect(balance).toBeLessThan(holds.at(-1)?.amount ?? 0n)
})

test('litellm#36926: a cap counts what was spent once, and nothing besides', async () => {
  const caps = [{ name: 'day', period: 'day', calls: 7 }] as const
  const { ask } = world(100_000n, whole, { groups: { default: { models: '*', caps } } })
  const statuses: number[] = []
  for (let call = 0; call < 9; call++) statuses.push((await ask()).status)
  expect(statuses).toEqual([...Array.from({ length: 7 }, () => 200), 429, 429])
})

test('litellm PR 40002: a request for the flex tier does not reserve the price of the most expensive tier', async () => {
  const { ask, holds } = world(100_000n, whole)
  await ask({ service_tier: 'priority' })
  await ask({ service_tier: 'flex' })
  const [priority = 0n, flex = 0n] = holds.map(({ amount }) => amount)
  // A vendor may serve it in its standard tier, so that price is reserved, and no more.
  expect(flex).toBeLessThanOrEqual(priority / 10n)
})

test('bifrost#3547, #5770: replicas share a cap, they do not have one each', async () => {
  const caps = [{ name: 'day', period: 'day', calls: 5 }] as const
  const { ask, open } = world(100_000n, whole, { groups: { default: { models: '*', caps } } })
  const replicas = [open(), open(), open()]
  const all = Array.from({ length: 20 }, async (_, at) => (await ask({}, undefined, replicas[at % 3])).status)
  expect((await Promise.all(all)).filter((status) => status === 200)).toHaveLength(5)
})
