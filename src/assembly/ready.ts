import { randomUUID } from 'node:crypto'
import { GatewayError } from '../errors.ts'
import { within } from '../http/deadline.ts'
import type { GatewayOptions } from '../options/options.ts'
import type { Stores } from './stores.ts'

/** A name that no account, bucket or id has. */
const name = 'modelhatch.ready'

type Question = readonly [store: string, ask: () => unknown]

/** Calls each store once. Rejects with their errors as the `cause`, equal errors of several stores only once. */
export async function requireReady(options: GatewayOptions, stores: Stores, timeoutMs: number): Promise<void> {
  const all = questions(options, stores)
  const given = await Promise.allSettled(all.map(([store, ask]) => within(timeoutMs, answer(ask), store)))
  const causes = new Map<string, unknown>()
  const failed = all.flatMap(([store], index) => {
    const { reason } = given[index] as PromiseRejectedResult
    if (given[index]?.status === 'fulfilled') return []
    const error: unknown = GatewayError.is(reason) ? (reason.cause ?? reason) : reason
    causes.set(String(error), error)
    return store
  })
  if (failed.length === 0) return
  const [first] = causes.values()
  const cause = causes.size === 1 ? first : new AggregateError(causes.values(), [...causes.keys()].join('; '))
  const message = `The gateway is not ready: ${failed.join(', ')} failed. See the cause.`
  throw new GatewayError('service_unavailable', { message, cause })
}

async function answer(ask: () => unknown): Promise<unknown> {
  return ask()
}

function questions(options: GatewayOptions, { keys, limits, ledger, usage, responses }: Stores): Question[] {
  const { tasks, idempotency: replays } = options.storage ?? {}
  const idempotency = options.idempotency === false ? undefined : replays
  const rates = [{ bucket: name, cost: 0, limit: 1, periodMs: 1_000, burst: 1 }]
  const claim = { account: name, route: name, key: randomUUID(), attempt: randomUUID() }
  const all: (Question | undefined)[] = [
    ['the key store', () => keys.find('0'.repeat(64))],
    ['the limit store', () => limits.take({ id: name, rates, places: [], leaseMs: 1_000 })],
    ledger && ['the ledger', () => ledger.account(name)],
    usage && ['the usage store', () => usage.list({ account: name, limit: 1 })],
    ['the response store', () => responses.get(name, name)],
    tasks && ['the task store', () => tasks.find(name, name, Date.now())],
    idempotency && [
      'the idempotency store',
      async () => {
        await idempotency.begin({ ...claim, digest: '0'.repeat(64), leaseMs: 1_000 })
        await idempotency.forget(claim)
      },
    ],
  ]
  return all.filter((each) => each !== undefined)
}
