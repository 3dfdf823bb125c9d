import { randomUUID } from 'node:crypto'
import type { StoreName } from '../../observe/health.ts'
import type { GatewayOptions } from '../options/options.ts'
import type { Stores } from './stores.ts'
import type { TaskStore } from '../../tasks/contract.ts'
import { GatewayError } from '../../errors.ts'
import { within } from '../../http/deadline.ts'

/** A call that shows whether a store works. */
export interface StoreQuestion {
  readonly store: StoreName
  /** The store in messages, such as `the ledger`. */
  readonly name: string
  /** Whether requests to models fail without the store. */
  readonly required: boolean
  readonly ask: () => Promise<unknown>
}

/** A name that no account, bucket or id has. */
const nobody = 'modelhatch.ready'

/** One question for each store of a gateway. */
export function storeQuestions(options: GatewayOptions, stores: Stores): readonly StoreQuestion[] {
  const { keys, limits, ledger, usage, responses, audit, vendorKeys, registry, content, contentKeys } = stores
  const { tasks, background, batches, fileBatches, files, idempotency: replays } = options.storage ?? {}
  const idempotency = options.idempotency === false ? undefined : replays
  const rates = [{ bucket: nobody, cost: 0, limit: 1, periodMs: 1_000, burst: 1 }]
  const claim = { account: nobody, route: nobody, key: randomUUID(), attempt: randomUUID() }
  const questions: StoreQuestion[] = []
  const add = (store: StoreName, name: string, required: boolean, ask: () => unknown) =>
    questions.push({ store, name, required, ask: async () => ask() })
  add('keys', 'the key store', true, () => keys.find('0'.repeat(64)))
  add('limits', 'the limit store', options.limits?.whenDown !== 'local', () =>
    limits.take({ id: nobody, rates, places: [], leaseMs: 1_000 }),
  )
  if (ledger !== undefined) add('ledger', 'the ledger', true, () => ledger.account(nobody))
  if (usage !== undefined) add('usage', 'the usage store', false, () => usage.list({ account: nobody, limit: 1 }))
  add('responses', 'the response store', false, () => responses.get(nobody, nobody))
  const addTasks = (store: StoreName, name: string, kept: TaskStore | undefined, isUsed = true) => {
    if (kept !== undefined && isUsed) add(store, name, false, () => kept.find(nobody, nobody, Date.now()))
  }
  addTasks('tasks', 'the task store', tasks)
  addTasks('background', 'the store of background responses', background)
  addTasks('batches', 'the store of batches', batches, Boolean(options.batches))
  addTasks('fileBatches', 'the store of batches', fileBatches, typeof options.batches === 'object')
  addTasks('files', 'the store of files', files, typeof options.batches === 'object')
  if (idempotency !== undefined) {
    add('idempotency', 'the idempotency store', false, async () => {
      await idempotency.begin({ ...claim, digest: '0'.repeat(64), leaseMs: 1_000 })
      await idempotency.forget(claim)
    })
  }
  add('audit', 'the audit log', false, () => audit.last())
  if (content !== undefined) add('content', 'the store of content', false, () => content.get(nobody))
  if (contentKeys !== undefined)
    add('contentKeys', 'the store of the keys of content', false, () => contentKeys.find([nobody]))
  if (vendorKeys !== undefined && options.ownKeys?.secrets !== undefined)
    add('vendorKeys', 'the store of vendor keys', true, () => vendorKeys.revision())
  if (registry !== undefined) add('registry', 'the registry of models', false, () => registry.all())
  return questions
}

/** Asks each once. Rejects with their errors as the `cause`, equal errors of several only once. */
export async function requireReady(
  all: readonly Pick<StoreQuestion, 'name' | 'ask'>[],
  timeoutMs: number,
): Promise<void> {
  const given = await Promise.allSettled(all.map(({ name, ask }) => within(timeoutMs, ask(), name)))
  const causes = new Map<string, unknown>()
  const failed = all.flatMap(({ name }, index) => {
    const { reason } = given[index] as PromiseRejectedResult
    if (given[index]?.status === 'fulfilled') return []
    const error: unknown = GatewayError.is(reason) ? (reason.cause ?? reason) : reason
    causes.set(String(error), error)
    return name
  })
  if (failed.length === 0) return
  const [first] = causes.values()
  const cause = causes.size === 1 ? first : new AggregateError(causes.values(), [...causes.keys()].join('; '))
  const message = `The gateway is not ready: ${failed.join(', ')} failed. See the cause.`
  throw new GatewayError('service_unavailable', { message, cause })
}
