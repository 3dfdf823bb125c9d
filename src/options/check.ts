import * as z from 'zod'
import { longestTimerMs } from '../http/deadline.ts'
import { parseMoney } from '../billing/money.ts'
import { parsePriceMultiplier } from '../billing/price.ts'
import { checkModels } from './check-models.ts'
import type { ModelEntry } from '../models/registry.ts'
import {
  anyFunction,
  instant,
  onDisconnect,
  mistake,
  parsed,
  positive,
  strict,
  timed,
  verify,
} from '../validation/rules.ts'
import { rate, scopedRate } from '../limits/rate-rules.ts'
import { isRegistry, type GatewayOptions } from './options.ts'
import { storageRule } from './check-storage.ts'

const nameCurrency = "must name the currency of all prices and balances, such as 'EUR'"

const schema = strict({
  models: z.unknown().optional(),
  keys: z.unknown().optional(),
  authenticate: anyFunction.optional(),
  groups: z
    .record(
      z.string(),
      strict({
        models: z.union([z.literal('*'), z.array(z.string())], "must be '*' or a list of model names"),
        rate: scopedRate.optional(),
        priceMultiplier: parsed(parsePriceMultiplier).optional(),
      }),
    )
    .optional(),
  defaultModel: z.string().min(1).optional(),
  azure: z.boolean().optional(),
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
  billing: strict({
    currency: z.string(nameCurrency).min(1, nameCurrency),
    unpriced: z.enum(['refuse', 'free']),
    minimumTopUp: parsed(parseMoney),
    onDisconnect,
    maxDrains: z.int().min(0),
    defaults: strict({ outputTokens: z.int().min(0), enforce: z.boolean(), seconds: z.number().min(0) }).partial(),
    leaseMs: timed,
  })
    .partial({ unpriced: true, minimumTopUp: true, onDisconnect: true, maxDrains: true, defaults: true, leaseMs: true })
    .optional(),
  limits: strict({ whenDown: z.enum(['refuse', 'local']), leaseMs: timed, outputTokens: z.int().min(0) })
    .partial()
    .optional(),
  usage: strict({ record: z.boolean(), queue: z.int().min(1), whenFull: z.enum(['drop', 'refuse']) })
    .partial()
    .optional(),
  idempotency: z
    .union([z.literal(false), strict({ keepMs: positive, maxBytes: positive, leaseMs: timed }).partial()])
    .optional(),
  tasks: strict({
    deadlineMs: positive,
    sweepMs: timed,
    webhooks: strict({ endpoint: anyFunction, allowPrivateNetwork: z.boolean().optional() }),
  })
    .partial()
    .optional(),
  publicUrl: z.url({ protocol: /^https?$/, error: 'must be like "https://api.example.com/ai"' }).optional(),
  hooks: strict({ receipt: anyFunction, attempt: anyFunction, failure: anyFunction, task: anyFunction })
    .partial()
    .optional(),
  clock: anyFunction.optional(),
  random: anyFunction.optional(),
})

const keyRule = strict({
  group: z.string().optional(),
  account: z.string().min(1).optional(),
  name: z.string().optional(),
  expiresAt: instant.optional(),
  rate: rate.optional(),
})

/** Throws a `TypeError` that names an invalid option and describes the valid values. */
export function checkOptions(options: GatewayOptions): void {
  verify(schema, options, '')
  const { models, keys, groups = { default: { models: '*' } } } = options
  if (!isRegistry(models)) {
    checkModels(models, groups)
    checkDefault(options.defaultModel, models)
  }
  if (keys === undefined) return
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
}

/** Rejects a default model that does not exist. */
function checkDefault(name: string | undefined, models: Readonly<Record<string, ModelEntry>>): void {
  if (name === undefined) return
  const known = Object.entries(models).some(([id, entry]) => {
    const { aliases = [] } = entry as { aliases?: readonly string[] }
    return id === name || aliases.includes(name) || (id.endsWith('*') && name.startsWith(id.slice(0, -1)))
  })
  if (!known) throw mistake('defaultModel', `"${name}" is not in "models"`)
}
