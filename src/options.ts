/** What a gateway is made of, and the check that names the option at fault. */
import * as z from 'zod'
import type { Authenticate } from './auth/authenticate.ts'
import type { KeyCacheOptions } from './auth/cache.ts'
import type { KeyStore } from './auth/contract.ts'
import type { BillingOptions } from './billing/options.ts'
import { parseMoney } from './billing/money.ts'
import { parseRatio } from './billing/price.ts'
import type { Receipt } from './billing/receipt.ts'
import type { Sizes } from './http/sizes.ts'
import type { LimitOptions } from './limits/options.ts'
import { parseFrequency, type Rate } from './limits/rate.ts'
import type { Group } from './models/access.ts'
import type { ModelRegistry } from './models/contract.ts'
import type { ModelEntry } from './models/registry.ts'
import type { BreakerOptions } from './routing/breaker.ts'
import type { ResponseStore } from './responses/contract.ts'
import type { ResponseMemoryOptions } from './responses/memory.ts'
import type { RetryOptions } from './routing/perform.ts'
import type { Storage } from './storage/contract.ts'
import type { UsageOptions } from './usage/options.ts'
import type { TaskStore } from './tasks/contract.ts'
import type { TaskEvent } from './tasks/parts.ts'

export interface GatewayOptions {
  /** The models served, by the name clients use, or a registry of one's own. A name may end in `*`. */
  readonly models: Readonly<Record<string, ModelEntry>> | ModelRegistry
  /**
   * Where keys, counters, balances and usage are kept, such as `postgres(pool)`. What the bundle lacks is kept in memory.
   * Each store in it can be replaced alone: `{ ...postgres(pool), limits: redis(send).limits }`.
   */
  readonly storage?: Storage
  /**
   * The API keys let in, by the key itself, beside those of the `storage`; or a store of one's own instead. Only hashes
   * of them are kept.
   */
  readonly keys?: Readonly<Record<string, KeyOptions>> | KeyStore
  /** The host's own source of callers, asked before the keys. */
  readonly authenticate?: Authenticate
  /** The model groups. Default: `{ default: { models: '*' } }`. */
  readonly groups?: Readonly<Record<string, Group>>
  /** How much one request may carry. */
  readonly sizes?: Partial<Sizes>
  /** How long is waited for what. */
  readonly timeouts?: Timeouts
  /** Calls that are repeated before the client has got a first byte. */
  readonly retry?: RetryOptions
  /** When a deployment that fails is left alone. */
  readonly breaker?: BreakerOptions
  /** How long what is known of a key is used without asking the store again. */
  readonly keyCache?: KeyCacheOptions
  /** How many responses are kept in memory and for how long, or a store of one's own. */
  readonly responses?: Omit<ResponseMemoryOptions, 'clock'> | ResponseStore
  /** Accounts with a balance, from which calls are paid at the prices of the models. Default: nobody pays anything. */
  readonly billing?: BillingOptions
  /** How the limits of groups, keys and models (`rate`) are kept. */
  readonly limits?: LimitOptions
  /** How usage is recorded. Default: with `storage` or `billing` every call is recorded, without them none. */
  readonly usage?: UsageOptions
  /** How video tasks are kept and driven. */
  readonly tasks?: TaskOptions
  /** The URL under which clients reach the mount, such as `https://api.example.com/ai`, for links in answers. */
  readonly publicUrl?: string
  readonly hooks?: Hooks
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
  /** At least 0, less than 1. Default `Math.random`; used for weights and jitter, never for secrets. */
  readonly random?: () => number
}

export interface KeyOptions {
  /** Default `default`. */
  readonly group?: string
  /** Who pays and owns. Default: the key is an account of its own. */
  readonly account?: string
  readonly name?: string
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number
  /** Limits of this key alone, beside those of its group. */
  readonly rate?: Rate
}

export interface Timeouts {
  /** Milliseconds to the first content of an answer, retries included. Default 600,000: reasoning models think long. */
  readonly firstByteMs?: number
  /** Milliseconds of silence after which a stream gets a keep-alive comment. Default 15,000. */
  readonly keepAliveMs?: number
  /** Milliseconds for which a client may leave a stream unread. Default 60,000. */
  readonly stallMs?: number
  /** Milliseconds to wait for the key store or `authenticate`. Default 3,000. */
  readonly authMs?: number
  /** Milliseconds to wait for a store of limits or money before a call is refused with 503. Default 2,000. */
  readonly storeMs?: number
}

export interface TaskOptions {
  /** Default: in this process. Another one lets tasks survive a restart and be shared by several processes. */
  readonly store?: TaskStore
  /** Milliseconds from creation to automatic cancellation. Default 7,200,000. */
  readonly deadlineMs?: number
  /** Milliseconds between two looks for tasks that nobody asks about. Default 1,000. */
  readonly sweepMs?: number
}

export interface Hooks {
  /** Called when a task was created or has ended, and when something of it needs a person's eye. */
  readonly task?: (event: TaskEvent) => void
  /** Called once for every call of a model when it has ended. What it throws is ignored. */
  readonly receipt?: (receipt: Receipt) => void
}

const positive = z.number().positive()
const anyFunction = z.custom<(...input: never[]) => unknown>(
  (value) => typeof value === 'function',
  'must be a function',
)

const provider = z.custom<object>(
  (value) => typeof value === 'object' && value !== null && typeof (value as { name?: unknown }).name === 'string',
  'must be a provider: an object with a name, such as openai({ apiKey }) or defineProvider({ name, chat })',
)

/** A value that another function parses: its message is the message. */
function parsed(parse: (value: never) => unknown): z.ZodType {
  return z.unknown().superRefine((value, context) => {
    try {
      parse(value as never)
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message })
    }
  })
}

const frequency = parsed(parseFrequency)

const rate = z.strictObject({ requests: frequency, tokens: frequency, concurrent: z.int().min(1) }).partial()

const scopedRate = rate.extend({ per: z.enum(['account', 'key', 'all']).optional() })

const cancelled = z
  .strictObject({
    vendor: z.enum(['abort', 'drain']),
    charge: z.enum(['delivered', 'reported', 'none']),
    drainMs: positive,
  })
  .partial()

const step = z.union(
  [
    z.string(),
    z.strictObject({ model: z.string(), order: z.number().optional(), weight: z.number().min(0).optional() }),
    z.strictObject({
      provider,
      as: z.string().optional(),
      order: z.number().optional(),
      weight: z.number().min(0).optional(),
    }),
  ],
  'must be a model name, { model, order?, weight? } or { provider, as?, order?, weight? }',
)

const model = z.strictObject({
  provider: provider.optional(),
  as: z.string().min(1).optional(),
  route: z.array(step).min(1).optional(),
  aliases: z.array(z.string()).optional(),
  groups: z.array(z.string()).optional(),
  ownedBy: z.string().optional(),
  created: z.int().optional(),
  contextWindow: z.int().positive().optional(),
  maxOutputTokens: z.int().positive().optional(),
  image: z
    .strictObject({
      sizes: z.array(z.string()).min(1),
      qualities: z.array(z.string()).min(1),
      maxN: z.int().min(1),
      edits: z.boolean(),
      responseFormat: z.boolean(),
    })
    .partial()
    .optional(),
  price: z.looseObject({}).optional(),
  cancelled: cancelled.optional(),
  rate: scopedRate.optional(),
  video: z
    .strictObject({ durations: z.array(z.int().positive()).min(1), sizes: z.array(z.string()).min(1) })
    .partial()
    .optional(),
})

const schema = z.strictObject({
  models: z.unknown(),
  keys: z.unknown().optional(),
  authenticate: anyFunction.optional(),
  groups: z
    .record(
      z.string(),
      z.strictObject({
        models: z.union([z.literal('*'), z.array(z.string())], "must be '*' or a list of model names"),
        rate: scopedRate.optional(),
        ratio: parsed(parseRatio).optional(),
      }),
    )
    .optional(),
  sizes: z
    .strictObject({
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
      bodyIdleMs: positive,
    })
    .partial()
    .optional(),
  timeouts: z
    .strictObject({
      firstByteMs: positive,
      keepAliveMs: positive,
      stallMs: positive,
      authMs: positive,
      storeMs: positive,
    })
    .partial()
    .optional(),
  retry: z
    .strictObject({ tries: z.int().min(1), backoffMs: z.number().min(0), longestWaitMs: z.number().min(0) })
    .partial()
    .optional(),
  breaker: z
    .strictObject({ failures: z.int().min(1), coolDownMs: positive })
    .partial()
    .optional(),
  keyCache: z
    .strictObject({ size: z.int().min(1), ageMs: positive, unknownAgeMs: positive })
    .partial()
    .optional(),
  responses: z
    .union([
      z.custom<ResponseStore>((value) => isResponseStore(Object(value) as ResponseStore)),
      z.strictObject({ count: z.int().min(1), bytes: positive, ageMs: positive }).partial(),
    ])
    .optional(),
  storage: z.looseObject({}).optional(),
  billing: z
    .strictObject({
      currency: z.string().min(1),
      unpriced: z.enum(['refuse', 'free']),
      minimumTopUp: parsed(parseMoney),
      cancelled,
      drains: z.int().min(0),
      unstated: z.strictObject({ outputTokens: z.int().min(0), seconds: z.number().min(0) }).partial(),
      leaseMs: positive,
    })
    .partial()
    .optional(),
  limits: z
    .strictObject({ whenDown: z.enum(['refuse', 'local']), leaseMs: positive, outputTokens: z.int().min(0) })
    .partial()
    .optional(),
  usage: z
    .strictObject({ record: z.boolean(), queue: z.int().min(1), whenFull: z.enum(['drop', 'refuse']) })
    .partial()
    .optional(),
  tasks: z
    .strictObject({ store: z.looseObject({}), deadlineMs: positive, sweepMs: positive })
    .partial()
    .optional(),
  publicUrl: z.url({ protocol: /^https?$/ }).optional(),
  hooks: z.strictObject({ receipt: anyFunction, task: anyFunction }).partial().optional(),
  clock: anyFunction.optional(),
  random: anyFunction.optional(),
})

const keySchema = z.strictObject({
  group: z.string().optional(),
  account: z.string().min(1).optional(),
  name: z.string().optional(),
  expiresAt: z.number().optional(),
  rate: rate.optional(),
})

/** Throws a `TypeError` that names the option and says what would be right. */
export function checkOptions(options: GatewayOptions): void {
  verify(schema, options, '')
  const { models, keys } = options
  if (!isRegistry(models)) {
    verify(z.record(z.string(), z.looseObject({})), models, 'models')
    for (const [id, entry] of Object.entries(models)) {
      if ('name' in entry) continue
      verify(model, entry, `models["${id}"]`)
      if ((entry.provider === undefined) === (entry.route === undefined)) {
        throw new TypeError(`createGateway: models["${id}"] needs either "provider" or "route".`)
      }
    }
  }
  if (keys === undefined || isKeyStore(keys)) return
  const groups = options.groups ?? { default: {} }
  verify(z.record(z.string().min(1), z.unknown()), keys, 'keys')
  for (const entry of Object.values(keys)) {
    verify(keySchema, entry, 'keys[…]')
    const group = entry.group ?? 'default'
    if (!Object.hasOwn(groups, group)) {
      throw new TypeError(`createGateway: a key is in the group "${group}", which is not in "groups".`)
    }
  }
}

export function isRegistry(models: GatewayOptions['models']): models is ModelRegistry {
  return typeof (models as Partial<ModelRegistry> | undefined)?.find === 'function'
}

export function isKeyStore(keys: NonNullable<GatewayOptions['keys']>): keys is KeyStore {
  return typeof (keys as Partial<KeyStore>).find === 'function'
}

export function isResponseStore(responses: NonNullable<GatewayOptions['responses']>): responses is ResponseStore {
  return typeof (responses as Partial<ResponseStore>).holding === 'function'
}

function verify(rules: z.ZodType, value: unknown, place: string): void {
  const result = rules.safeParse(value)
  if (result.success) return
  const issue = result.error.issues[0] as z.core.$ZodIssue
  const path = [place, ...issue.path].filter((key) => key !== '').join('.')
  throw new TypeError(`createGateway: ${path === '' ? 'the options' : path}: ${issue.message}`)
}
