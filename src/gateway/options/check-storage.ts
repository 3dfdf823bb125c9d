import * as z from 'zod'
import { longestTimerMs } from '../../http/deadline.ts'
import { anyFunction, positive, strict, timed } from '../../records/rules.ts'
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
  fileBatches: ['insert', 'find', 'replace', 'claim'],
  files: ['insert', 'find', 'replace', 'claim'],
  idempotency: ['begin', 'finish', 'forget'],
  audit: ['append', 'last', 'list', 'read', 'erase'],
  content: ['append', 'get', 'list', 'erase', 'removeBefore'],
  contentKeys: ['claim', 'find', 'page', 'reseal', 'erase', 'removeBefore'],
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

/** Messages never repeat it. */
export const sealingSecret: z.ZodString = z
  .string('must be a text: is a variable unset?')
  .min(32, "must have at least 32 characters, such as those of 'openssl rand -base64 32'")

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

const named = z.union([z.string(), z.looseObject({ pattern: z.instanceof(RegExp) }), anyFunction])

/** The options of the content log. */
export const contentRule: z.ZodType = strict({
  encryptionKey: z.union([sealingSecret, z.array(sealingSecret).min(1, 'must have at least one secret')]),
  ...strict({
    store: storeRule('content'),
    keyStore: storeRule('contentKeys'),
    accounts: z.union([z.array(z.string()), anyFunction], 'must be a list of accounts, or a function'),
    sample: z.number().min(0).max(1),
    redact: z.array(named, "must be a list of patterns and functions, such as ['card', 'email']"),
    keepDays: z.int().min(0).max(36_500),
    mediaBytes: z.int().min(1_024),
    maxBytes: positive,
    queueBytes: positive,
    queue: z.int().min(1),
  }).partial().shape,
})
