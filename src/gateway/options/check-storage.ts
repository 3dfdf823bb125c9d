import * as z from 'zod'
import { longestTimerMs } from '../../http/deadline.ts'
import { positive, strict, timed } from '../../records/rules.ts'
import type { StorageBundle } from './storage.ts'

/** The required methods of each contract. */
const methods: Readonly<Record<Exclude<keyof StorageBundle, 'close'>, readonly string[]>> = {
  keys: ['find'],
  limits: ['take', 'give', 'renew'],
  ledger: ['hold', 'settle', 'release', 'renew', 'credit', 'open', 'account', 'audit'],
  usage: ['append', 'list', 'summarise'],
  tasks: ['insert', 'find', 'replace', 'claim'],
  background: ['insert', 'find', 'replace', 'claim'],
  batches: ['insert', 'find', 'replace', 'claim'],
  idempotency: ['begin', 'finish', 'forget'],
  audit: ['append', 'last', 'list', 'read', 'erase'],
  vendorKeys: ['put', 'reseal', 'list', 'page', 'delete', 'deleteAll', 'revision'],
  registry: ['all', 'put'],
  responses: ['put', 'get', 'replace', 'holding', 'delete'],
  admission: ['admit', 'finish'],
}

type StoreOption = keyof typeof methods

function storeRule(name: StoreOption): z.ZodType {
  const required = methods[name]
  return z.custom(
    (value) => required.every((method) => typeof Object(value)[method] === 'function'),
    `must be a store with ${required.join(', ')}`,
  )
}

const rules = z.looseObject(
  Object.fromEntries((Object.keys(methods) as StoreOption[]).map((name) => [name, storeRule(name).optional()])),
)

/**
 * Validates the stores when the gateway is created; otherwise a missing method would be a 503 of a request. Rejects a
 * bundle without a store, such as a pool or a client passed by mistake.
 */
export const storageRule: z.ZodType = z
  .custom((value) => Object.keys(methods).some((name) => Object(value)[name] !== undefined), {
    message: "must hold stores, such as sqlite('gateway.db') or postgres(pool)",
    abort: true,
  })
  .pipe(rules)

/** The options of `Idempotency-Key`. */
export const idempotencyRule: z.ZodType = z.union([
  z.literal(false),
  strict({
    keepMs: positive,
    maxBytes: positive,
    leaseMs: timed,
    resumeMs: z.int().min(0).max(longestTimerMs),
  }).partial(),
])

/** The options of the cache of answers. */
export const cacheRule: z.ZodType = strict({
  ttlMs: positive,
  maxBytes: positive,
  when: z.enum(['deterministic', 'asked']),
  share: z.enum(['account', 'group']),
  charge: z.number().min(0).max(1),
  store: storeRule('idempotency'),
}).partial()
