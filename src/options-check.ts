/** The check of the options, which names the one at fault. */
import * as z from 'zod'
import { parseMoney } from './billing/money.ts'
import { parseRatio } from './billing/price.ts'
import { parseFrequency } from './limits/rate.ts'
import { isKeyStore, isRegistry, isResponseStore, type GatewayOptions } from './options.ts'
import type { ResponseStore } from './responses/contract.ts'

const positive = z.number().positive()
const anyFunction = z.custom<(...input: never[]) => unknown>(
  (value) => typeof value === 'function',
  'must be a function',
)

const provider = z.custom<object>(
  (value) => typeof value === 'object' && value !== null && typeof (value as { name?: unknown }).name === 'string',
  'must be a provider: an object with a name, such as openai({ apiKey }) or defineProvider({ name, chat })',
)

const idempotencyStore = z.custom<object>(
  (value) => ['begin', 'finish', 'forget'].every((name) => typeof Object(value)[name] === 'function'),
  'must be a store with begin, finish and forget',
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
      silenceMs: positive,
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
      unstated: z
        .strictObject({ outputTokens: z.int().min(0), enforce: z.boolean(), seconds: z.number().min(0) })
        .partial(),
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
  idempotency: z
    .union([
      z.literal(false),
      z.strictObject({ store: idempotencyStore, keepMs: positive, maxBytes: positive, leaseMs: positive }).partial(),
    ])
    .optional(),
  tasks: z
    .strictObject({
      store: z.looseObject({}),
      deadlineMs: positive,
      sweepMs: positive,
      webhooks: z.strictObject({ endpoint: anyFunction, anywhere: z.boolean().optional() }),
    })
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

function verify(rules: z.ZodType, value: unknown, place: string): void {
  const result = rules.safeParse(value)
  if (result.success) return
  const issue = result.error.issues[0] as z.core.$ZodIssue
  const path = [place, ...issue.path].filter((key) => key !== '').join('.')
  throw new TypeError(`createGateway: ${path === '' ? 'the options' : path}: ${issue.message}`)
}
