import * as z from 'zod'
import { longestTimerMs } from '../../http/deadline.ts'
import { parseFactor, parseRate } from '../../money/prices/rate.ts'
import type { PriceTable } from '../../money/prices/price-table.ts'
import { billingRule } from './check-billing.ts'
import { checkCaps } from './check-caps.ts'
import { checkModels, inspect, provider } from './check-models.ts'
import { matches } from '../../records/pattern.ts'
import { groupFields } from '../../models/group-fields.ts'
import type { ModelEntry } from '../../models/model-options.ts'
import { anyFunction, mistake, optionalOf, parsed, positive, strict, timed, verify } from '../../records/rules.ts'
import { newKeyShape } from '../../callers/key-fields.ts'
import { user } from '../../callers/key-rules.ts'
import { frequency } from '../../records/rate-rules.ts'
import type { VendorReportReader } from '../../admin/reconcile/contract.ts'
import type { Telemetry } from '../../observe/contract.ts'
import type { Logger } from '../../observe/logger.ts'
import { isRegistry, type GatewayOptions } from './options.ts'
import type { Endpoint } from '../../endpoints/endpoint.ts'
import { cacheRule, contentRule, idempotencyRule, sealingSecret, storageRule } from './check-storage.ts'

const headerName = z.string().regex(/^[a-z0-9!#$%&'*+.^_`|~-]+$/, 'must be the name of a header in lower case')

/** Objects with methods; a class instance too. */
const telemetry = z.custom<Telemetry>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  "must be an object with methods, such as otel() of 'modelhatch/otel'",
)

const logger = z.custom<Logger>(
  (value) => typeof Object(value).warn === 'function' && typeof Object(value).error === 'function',
  'must be a logger with the methods warn and error, such as pino()',
)

const reportReader = z.custom<VendorReportReader>(
  (value) => typeof value === 'function',
  'must be a reader, such as openaiReport({ adminKey })',
)

const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

const endpoint = z.custom<Endpoint>(
  (value) =>
    typeof Object(value).name === 'string' && (Object(value).path ?? '') !== '' && methods.has(Object(value).method),
  'must be made by defineEndpoint()',
)

const retained = z.number().min(3_600_000, 'must be milliseconds, at least an hour').max(Number.MAX_SAFE_INTEGER)

const webhooks = strict({ endpoint: anyFunction, allowPrivateNetwork: z.boolean().optional() })

const schema = strict({
  models: z.unknown().optional(),
  keys: z.unknown().optional(),
  registry: strict({ providers: z.record(z.string().min(1).max(200), provider) }).optional(),
  authenticate: anyFunction.optional(),
  groups: z
    .record(z.string(), strict({ ...optionalOf(groupFields), models: groupFields.models, inspect: inspect.optional() }))
    .optional(),
  inspect: inspect.optional(),
  batches: z
    .union([
      z.boolean(),
      strict({
        files: z.custom(
          (value) => ['put', 'get', 'delete'].every((method) => typeof Object(value)[method] === 'function'),
          'must be a storage of files with put, get, delete, such as fileDirectory(path)',
        ),
        accountBytes: positive.optional(),
      }),
    ])
    .optional(),
  endpoints: z.array(endpoint, 'must be a list of what defineEndpoint() returns').optional(),
  defaultModel: z.string().min(1).optional(),
  azure: z.boolean().optional(),
  keyInQuery: z.boolean().optional(),
  affinity: z.enum(['auto', 'none']).optional(),
  fairness: strict({ maxWaitMs: timed.optional() }).optional(),
  ownKeys: strict({
    credentials: anyFunction.optional(),
    secrets: z.array(sealingSecret, 'must be a list of secrets').min(1, 'must have at least one secret').optional(),
    mode: z.union([z.enum(['only', 'prefer', 'host']), anyFunction]).optional(),
    fallback: z.boolean().optional(),
    fee: parsed((fee: string) => parseRate(fee, 'fee')).optional(),
    multiplier: parsed((factor: string) => parseFactor(factor, 'multiplier')).optional(),
  })
    .refine(
      ({ credentials, secrets }) => (credentials ?? secrets) !== undefined,
      'needs "secrets", which keep the keys of accounts, or the function "credentials"',
    )
    .optional(),
  sizes: strict({
    jsonBytes: positive,
    jsonDepth: positive.max(1_000),
    jsonEntries: positive,
    jsonNodes: positive,
    uploadBytes: positive,
    uploadMemoryBytes: positive,
    fileBytes: positive,
    fieldBytes: positive,
    formFiles: positive,
    formFields: positive,
    inflateRatio: positive,
    bodyIdleMs: timed,
  })
    .partial()
    .optional(),
  timeouts: strict({
    firstContentMs: timed,
    keepAliveMs: timed,
    idleMs: timed,
    stallMs: timed,
    authMs: timed,
    storeMs: timed,
    pageMs: timed,
  })
    .partial()
    .optional(),
  retry: strict({
    maxAttempts: z.int().min(1),
    backoffMs: z.number().min(0),
    maxWaitMs: z.number().min(0).max(longestTimerMs),
  })
    .partial()
    .optional(),
  breaker: strict({ failures: z.int().min(1), coolDownMs: positive })
    .partial()
    .optional(),
  whenKeyEnds: z.enum(['finish', 'end']).optional(),
  keyCache: strict({ size: z.int().min(1), ageMs: positive, unknownAgeMs: positive })
    .partial()
    .optional(),
  storage: storageRule.optional(),
  billing: billingRule.optional(),
  limits: strict({
    whenDown: z.enum(['refuse', 'local']),
    leaseMs: timed,
    outputTokens: z.int().min(0),
    tokenCounts: frequency,
  })
    .partial()
    .optional(),
  reports: z
    .record(z.string().min(1), reportReader, 'must be an object of readers by the names of providers')
    .optional(),
  usage: strict({
    record: z.boolean(),
    queue: z.int().min(1),
    whenFull: z.enum(['drop', 'refuse']),
    user: z.union(
      [z.enum(['field', 'none']), strict({ header: headerName })],
      "must be 'field', 'none' or { header: 'x-user' }",
    ),
    sessionHeaders: z.array(headerName),
    maxUsers: z.int().min(0),
    lines: z.boolean(),
    keepMs: retained,
    refused: z.union([
      z.literal(false),
      strict({ perAccount: z.int().min(0), perMinute: z.int().min(0), keepMs: retained }).partial(),
    ]),
  })
    .partial()
    .optional(),
  idempotency: idempotencyRule.optional(),
  cache: cacheRule.optional(),
  content: contentRule.optional(),
  tasks: strict({
    deadlineMs: positive,
    sweepMs: timed,
    webhooks,
  })
    .partial()
    .optional(),
  prices: z
    .custom<PriceTable>(
      (value) => typeof Object(value).find === 'function' && typeof Object(value).currency === 'string',
      "must be a price table, such as prices() of 'modelhatch/prices'",
    )
    .optional(),
  alerts: strict({ webhooks }).partial().optional(),
  publicUrl: z.url({ protocol: /^https?$/, error: 'must be like "https://api.example.com/ai"' }).optional(),
  telemetry: z.array(telemetry, 'must be a list, such as [otel()]').optional(),
  logger: logger.optional(),
  hooks: strict({
    receipt: anyFunction,
    attempt: anyFunction,
    failure: anyFunction,
    task: anyFunction,
    alert: anyFunction,
  })
    .partial()
    .optional(),
  clock: anyFunction.optional(),
  random: anyFunction.optional(),
})

const keyRule = strict({
  group: z.string().optional(),
  account: user.optional(),
  ...newKeyShape,
})

/** Throws a `TypeError` that names an invalid option and describes the valid values. */
export function checkOptions(options: GatewayOptions): void {
  verify(schema, options, '')
  const { models, keys, groups = { default: { models: '*' } }, prices, billing, usage, storage } = options
  if (prices !== undefined && billing !== undefined && prices.currency !== billing.currency) {
    throw mistake('prices', `is in ${prices.currency}, but "billing.currency" is ${billing.currency}`)
  }
  if (usage?.keepMs !== undefined && storage?.usage !== undefined && storage.usage.removeBefore === undefined) {
    throw mistake('usage.keepMs', 'the usage store cannot remove records')
  }
  if (!isRegistry(models)) {
    checkModels(models, groups, options.registry === undefined)
    if (options.registry === undefined) checkDefault(options.defaultModel, models)
  } else if (options.registry !== undefined) {
    throw mistake(
      'registry',
      'needs "models" to be a map, because a registry of your own says itself which models there are',
    )
  }
  if (keys === undefined) return checkCaps(options)
  const form =
    "must map each key to its options, such as { 'sk-…': {} }. A key store belongs into storage: { keys: store }"
  if (typeof keys !== 'object' || keys === null || Array.isArray(keys) || typeof keys['find'] === 'function')
    throw mistake('keys', form)
  for (const [key, entry] of Object.entries(keys)) {
    // Messages never contain a key, because keys are secrets.
    verify(keyRule, entry, 'keys[…]')
    const { group = 'default' } = entry
    if (!/^[\x21-\x7e]+$/.test(key)) throw mistake('keys', 'a key must consist of visible ASCII characters')
    // The name of a computed property whose variable is unset, which anyone could guess.
    if (key === 'undefined' || key === 'null') throw mistake('keys', `a key cannot be "${key}": is a variable unset?`)
    if (!Object.hasOwn(groups, group)) {
      const known = Object.keys(groups).join(', ')
      throw new TypeError(
        `createGateway: a key is in the group "${group}", which is not in "groups". Valid groups: ${known}.`,
      )
    }
  }
  checkCaps(options)
}

/** Rejects a default model that does not exist. */
function checkDefault(name: string | undefined, models: Readonly<Record<string, ModelEntry>>): void {
  if (name === undefined) return
  const known = Object.entries(models).some(([id, entry]) => {
    const { aliases = [] } = entry as { aliases?: readonly string[] }
    return matches(id, name) || aliases.includes(name)
  })
  if (!known) throw mistake('defaultModel', `"${name}" is not in "models"`)
}
