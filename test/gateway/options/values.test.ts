/**
 * Every option with invalid values. Each must be rejected by the constructor with a message that names the option: an
 * accepted mistake could disable a limit or a charge.
 */
import { describe, expect, test } from 'vitest'
import { fromAiSdk } from '../../../adapters/bridges/ai-sdk/ai-sdk.ts'
import { mysql } from '../../../adapters/stores/mysql/mysql.ts'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import { redis } from '../../../adapters/stores/redis/redis.ts'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'
import { createGateway, memoryKeyStore, mintKey, Price } from '../../../src/index.ts'
import * as memory from '../../../src/index.ts'
import {
  anthropic,
  demo,
  gatewayVideo,
  gemini,
  openai,
  openaiVideo,
  klingVideo,
  lumaVideo,
  minimaxVideo,
  runwayVideo,
  seedanceVideo,
  xaiVideo,
} from '../../../src/providers/index.ts'

const text = [5, true, null, {}, ['x']]
const flag = ['true', 'false', 0, 1, null, {}]
const number = ['5', null, NaN, -1, true, {}, [5]]
const count = [...number, 0, 1.5, Infinity]
const callback = ['x', null, {}, 5, true]
const object = ['x', 5, true, null, []]
const texts = ['x', 5, null, {}, [5], [undefined]]
const textByName = ['x', 5, null, [], { a: 5 }, { a: undefined }]
const secret = [...text, '', undefined, ' ', 'sk-a\n', 'two words']
/** A key, a function, or a list of them. */
const secrets = [...secret.filter((value) => !Array.isArray(value)), [], [5], ['sk-a', ''], [undefined]]
const rates = ['60', 60, null, '0/min', '-1/min', '60/fortnight', {}, { limit: 1 }, { limit: '1', periodMs: 1 }, []]
const money = [5, '', '1,5', 'free', NaN, null, {}, []]

type Values = Readonly<Record<string, readonly unknown[]>>

const client: Values = {
  connections: count,
  connectMs: number,
  firstContentMs: number,
  idleMs: number,
  answerBytes: count,
  streamBytes: count,
}
const vendor: Values = {
  ...client,
  apiKey: secret,
  name: [...text, ''],
  headers: textByName,
  baseURL: [5, {}, 'example.com', 'ftp://a.b', ''],
}
const query = async () => ({ rows: [] })
const model = { languageModel: () => ({}) } as never

describe.each<[string, (options: object) => unknown, Values]>([
  [
    'openai',
    (options) => openai(options),
    {
      ...vendor,
      apiKey: secrets,
      preset: [5, 'opnai', ''],
      keyHeader: text,
      organization: text,
      project: text,
      modelNames: textByName,
      tokenLimit: ['tokens', 5, null],
      usageInStreams: flag,
      rename: textByName,
      dropParams: texts,
      pastFields: texts,
      messageNames: flag,
      wantsReasoning: flag,
      developerRole: flag,
      shortCallIds: flag,
      embeddingBatch: count,
      embeddingFormat: flag,
      responses: flag,
    },
  ],
  [
    'anthropic',
    (options) => anthropic(options),
    { ...vendor, apiKey: secrets, sampling: ['drop', 5, null], dropParams: texts, traits: object },
  ],
  ['gemini', (options) => gemini(options), { ...vendor, apiKey: secrets, dropParams: texts, traits: object }],
  ['openaiVideo', (options) => openaiVideo(options), { ...vendor, submit: ['often', 5, null] }],
  ['gatewayVideo', (options) => gatewayVideo({ baseURL: 'http://a.b/v1', ...options }), vendor],
  ['xaiVideo', (options) => xaiVideo(options), vendor],
  ['seedanceVideo', (options) => seedanceVideo(options), vendor],
  ['runwayVideo', (options) => runwayVideo(options), vendor],
  ['lumaVideo', (options) => lumaVideo(options), vendor],
  ['minimaxVideo', (options) => minimaxVideo(options), vendor],
  ['klingVideo', (options) => klingVideo(options), vendor],
  ['demo', (options) => demo(options), { paceMs: number, videoSeconds: number, name: [...text, ''] }],
  [
    'fromAiSdk',
    (options) => fromAiSdk(model, options),
    { name: text, providerOptions: object, dropParams: texts, videoBytes: count, allowPrivateNetwork: flag },
  ],
  ['sqlite', (options) => sqlite(':memory:', options), { durability: ['none', 5, null], responseAgeMs: number }],
  [
    'postgres',
    (options) => postgres({ query }, options),
    { schema: [5, null, '', 'two words', 'Capital'], responseAgeMs: number },
  ],
  [
    'mysql',
    (options) => mysql({ getConnection: () => Promise.reject(new Error()) }, options),
    { prefix: [5, null, '', 'two words', 'Capital', 'p'.repeat(33)], responseAgeMs: number, connections: count },
  ],
  [
    'redis',
    (options) => redis(async () => undefined, options),
    { prefix: [5, null, '', '{}'], entries: count, responseAgeMs: number },
  ],
  ['memoryLimitStore', (options) => memory.memoryLimitStore(options), { clock: callback }],
  ['memoryLedger', (options) => memory.memoryLedger(options), { clock: callback }],
  ['memoryUsageStore', (options) => memory.memoryUsageStore(options), { count }],
  ['memoryTaskStore', (options) => memory.memoryTaskStore(options), { count }],
  [
    'memoryResponseStore',
    (options) => memory.memoryResponseStore(options),
    { count, bytes: count, ageMs: number, clock: callback },
  ],
  ['memoryIdempotencyStore', (options) => memory.memoryIdempotencyStore(options), { clock: callback, bytes: count }],
  [
    'mintKey',
    (options) => mintKey({ account: 'a', group: 'g', ...options }),
    {
      account: [...text, undefined, '', 'a\0', 'a'.repeat(257)],
      group: [...text, undefined, ''],
      name: text,
      expiresAt: ['2030', NaN, null, 1_900_000_000],
      prefix: text,
      rate: [{ requests: 5 }, { request: '1/min' }, { concurrent: '4' }, { concurrent: -1 }],
    },
  ],
  [
    'price',
    (options) => new Price(options),
    {
      input: money,
      output: money,
      cached: money,
      cacheWrite: money,
      reasoning: money,
      request: money,
      image: [...money.slice(0, 3), { a: 5 }, {}],
      second: [...money.slice(0, 3), { a: 5 }, {}],
    },
  ],
])('%s', (_, make, options) => {
  test.each(Object.entries(options))('rejects invalid values of %s', (name, values) => {
    for (const value of values) {
      expect(() => make({ [name]: value }), `${name}: ${String(value)}`).toThrow(TypeError)
      expect(() => make({ [name]: value }), `${name}: ${String(value)}`).toThrow(name)
    }
  })
  test('rejects an unknown option', () => expect(() => make({ tpyo: 1 })).toThrow('unknown option "tpyo"'))
})

const provider = demo()

/** Invalid values of every option of a gateway, by its path. */
const gateway: Values = {
  storage: ['gateway.db', 5, null, [], {}, { limits: {} }],
  authenticate: callback,
  groups: ['x', 5, null, { a: {} }, { a: { models: 'demo' } }, { a: { models: [5] } }],
  'groups.default.priceMultiplier': [1, '-1', 'free', null, NaN],
  'groups.default.rate': ['60/min', null, { request: '60/min' }],
  ...forEach('groups.default.rate', { requests: rates, tokens: rates, concurrent: count, per: ['everyone', 5, null] }),
  ...forEach('sizes', {
    jsonBytes: number,
    jsonDepth: number,
    jsonEntries: number,
    jsonNodes: number,
    uploadBytes: number,
    uploadMemoryBytes: number,
    fileBytes: number,
    fieldBytes: number,
    formFiles: number,
    formFields: number,
    bodyIdleMs: number,
  }),
  ...forEach('timeouts', {
    firstContentMs: number,
    keepAliveMs: number,
    idleMs: number,
    stallMs: number,
    authMs: number,
    storeMs: number,
  }),
  ...forEach('retry', { maxAttempts: count, backoffMs: number, maxWaitMs: number }),
  ...forEach('breaker', { failures: count, coolDownMs: number }),
  ...forEach('keyCache', { size: count, ageMs: number, unknownAgeMs: number }),
  billing: [{}, 5, null],
  ...forEach('billing', {
    currency: [...text, '', undefined],
    unpriced: ['no', null, true],
    minimumTopUp: money,
    maxDrains: number,
    leaseMs: number,
    onDisconnect: [{ vendor: 'stop' }, { charge: 'all' }, { drainMs: -1 }, { drain: 1 }, null, 'abort'],
    defaults: [{ outputTokens: -1 }, { outputTokens: '5' }, { enforce: 'yes' }, { seconds: NaN }, { tokens: 5 }, null],
  }),
  ...forEach('limits', { whenDown: ['allow', true, null], leaseMs: number, outputTokens: number }),
  ...forEach('usage', { record: flag, queue: count, whenFull: ['wait', true, null] }),
  idempotency: [true, null, 'x', []],
  ...forEach('idempotency', { keepMs: number, maxBytes: number, leaseMs: number }),
  ...forEach('tasks', {
    deadlineMs: number,
    sweepMs: number,
    webhooks: ['x', null, {}, { endpoint: 'https://a.b' }, { endpoint: () => undefined, allowPrivateNetwork: 'yes' }],
  }),
  publicUrl: [5, null, 'example.com', 'ftp://a.b'],
  telemetry: ['otel', 5, null, {}, [5], [null], [[]], [() => undefined]],
  ...forEach('hooks', { receipt: callback, attempt: callback, failure: callback, task: callback }),
  clock: callback,
  random: callback,
  keys: [memoryKeyStore(), { find: () => undefined }, ['sk-a'], null, 'sk-a'],
  'keys.sk-a': ['default', 5, null, [], { grup: 'x' }],
  ...forEach('keys.sk-a', {
    group: text,
    account: [...text, '', 'a\0', 'a'.repeat(257)],
    name: text,
    expiresAt: ['2030-01-01', NaN, null, new Date(), 1_900_000_000, -1, 0.5],
    rate: ['60/min', null, { request: '1/min' }, { concurrent: '4' }, { concurrent: -1 }, { requests: 5 }],
  }),
  'models.m': ['gpt-5', 5, null, [], {}],
  ...forEach('models.m', {
    provider: ['openai', 5, null, demo, {}],
    providerModel: [...text, ''],
    route: ['x', null, [], [5], [{}], ['nothing']],
    aliases: texts,
    groups: [...texts, ['unknown']],
    ownedBy: text,
    created: ['x', NaN, 0.5, null],
    contextWindow: count,
    maxOutputTokens: count,
    image: ['x', null, { sizes: [] }, { maxN: 0 }, { edits: 'no' }, { size: [] }],
    price: ['5', 5, null, [], { inptu: '1' }, { input: 5, output: '1' }],
    onDisconnect: ['abort', null, { vendor: 'stop' }],
    rate: ['60/min', null, { request: '1/min' }, { per: 'group' }],
    video: ['x', null, { durations: [] }, { durations: ['5'] }, { sizes: [5] }, { size: [] }],
  }),
}

function forEach(prefix: string, values: Values): Values {
  return Object.fromEntries(Object.entries(values).map(([name, invalid]) => [`${prefix}.${name}`, invalid]))
}

/** `{ a: { b: value } }` for `a.b`, with all required options. */
function optionsWith(path: string, value: unknown): object {
  const [first = '', ...rest] = path.split('.')
  const inner = rest.reduceRight<unknown>((within, name) => ({ [name]: within }), value)
  const needed = {
    models: { demo: provider },
    groups: { default: { models: '*', ...(inner as { default?: object } | undefined)?.default } },
  }
  if (path.startsWith('models.m.') && !/provider$|route/.test(path)) {
    return { models: { m: { provider, ...(inner as { m: object }).m } } }
  }
  return { ...needed, [first]: path.startsWith('groups.') ? needed.groups : inner }
}

describe('createGateway', () => {
  test.each(Object.entries(gateway))('rejects invalid values of %s', (path, values) => {
    for (const value of values) {
      const make = () => createGateway(optionsWith(path, value) as never)
      expect(make, `${path}: ${JSON.stringify(value)}`).toThrow(TypeError)
      // Messages must not contain keys.
      const name = path.startsWith('keys.') ? 'keys[…]' : (path.split('.')[0] as string)
      expect(make, `${path}: ${JSON.stringify(value)}`).toThrow(name)
    }
  })

  test('accepts the same options with a valid value', () => {
    expect(() => createGateway(optionsWith('clock', () => 0) as never)).not.toThrow()
    expect(() => createGateway(optionsWith('models.m.providerModel', 'x') as never)).not.toThrow()
    expect(() => createGateway(optionsWith('groups.default.priceMultiplier', '0.5') as never)).not.toThrow()
    expect(() => createGateway(optionsWith('keys.sk-a.expiresAt', Date.UTC(2030, 0)) as never)).not.toThrow()
  })
})

test('rejects a SQLite file in a missing folder', () => {
  expect(() => sqlite('/nowhere/to/be/found/gateway.db')).toThrow(
    'sqlite: the folder "/nowhere/to/be/found" of the file "/nowhere/to/be/found/gateway.db" does not exist',
  )
  expect(() => sqlite('')).toThrow('sqlite: the path is empty')
})
