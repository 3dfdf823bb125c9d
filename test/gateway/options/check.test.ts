/** Invalid options are rejected by the constructor, with a message that says what to change. */
import { expect, test } from 'vitest'
import {
  createGateway,
  memoryIdempotencyStore,
  memoryKeyStore,
  memoryResponseStore,
  memoryTaskStore,
} from '../../../src/index.ts'
import { anthropic, demo, gemini, openai, openaiVideo } from '../../../src/providers/index.ts'
import { fromAiSdk } from '../../../adapters/bridges/ai-sdk/ai-sdk.ts'
import { mysql } from '../../../adapters/stores/mysql/mysql.ts'
import { postgres } from '../../../adapters/stores/postgres/postgres.ts'
import { redis } from '../../../adapters/stores/redis/redis.ts'
import { sqlite } from '../../../adapters/stores/sqlite/sqlite.ts'

const models = { demo: demo(), 'open/*': demo() }
const create = (options: object) => () => createGateway({ models, ...options })
const unknown = (name: string) => new RegExp(`unknown option "${name}". Valid options: .*[a-z]`)

test.each([
  ['an option', { key: {} }, unknown('key')],
  ['an option in a group of them', { timeouts: { firstByte: 1 } }, unknown('firstByte')],
  ['an option of a key', { keys: { 'sk-a': { grup: 'x' } } }, unknown('grup')],
  ['an option of a model', { models: { m: { provider: demo(), alias: [] } } }, unknown('alias')],
  ['a field of a price', { models: { m: { provider: demo(), price: { inptu: '2' } } } }, unknown('inptu')],
  ['a model in a group', { groups: { default: { models: ['demoo'] } } }, unknown('demoo')],
  ['a group of a model', { models: { m: { provider: demo(), groups: ['x'] } } }, unknown('x')],
])('rejects %s that does not exist', (_, options, message) => expect(create(options)).toThrow(message))

test.each([
  { timeouts: { firstContentMs: 3e9 } },
  { timeouts: { storeMs: Infinity } },
  { sizes: { bodyIdleMs: 2 ** 31 } },
  { billing: { leaseMs: 2 ** 31, currency: 'CNY' } },
])('rejects a time over the maximum of a timer, which would fire immediately: %j', (options) => {
  const [[group, fields] = ['', {}]] = Object.entries<object>(options)
  expect(create(options)).toThrow(`${group}.${Object.keys(fields)[0]}: `)
})

test.each([
  { default: { models: ['demo'] } },
  { default: { models: ['d*'] } },
  { default: { models: ['open/gpt'] } },
  { default: { models: ['open/g*'] } },
  { default: { models: ['o*'] } },
])('accepts a group with models that exist or match a pattern: %j', (groups) =>
  expect(create({ groups })).not.toThrow(),
)

const asName = "must map names to models, such as { 'gpt-5': openai({ apiKey }) }"
const asProvider = 'must be a provider, such as openai({ apiKey }), or { provider, … }'
const asKeys =
  "must map each key to its options, such as { 'sk-…': {} }. A key store belongs into storage: { keys: store }"
const asStorage = "must hold stores, such as sqlite('gateway.db') or postgres(pool)"

test.each([
  ['no models', { models: undefined }, `models: ${asName}`],
  ['a list of models', { models: ['demo'] }, `models: ${asName}`],
  ['a provider that was not called', { models: { m: demo } }, `models["m"]: ${asProvider}`],
  ['a model given as a string', { models: { m: 'gpt-5' } }, `models["m"]: ${asProvider}`],
  ['a model with a name of its own', { models: { m: { name: 'gpt', provider: demo() } } }, 'remove "name"'],
  [
    'an alias that is a model',
    { models: { a: demo(), b: { provider: demo(), aliases: ['a'] } } },
    'already the name of another model',
  ],
  ['a list of keys', { keys: ['sk-a'] }, `keys: ${asKeys}`],
  ['a key store as `keys`', { keys: memoryKeyStore() }, `keys: ${asKeys}`],
  ['a response store outside `storage`', { responses: memoryResponseStore() }, 'unknown option "responses"'],
  ['a store in the options of tasks', { tasks: { store: memoryTaskStore() } }, 'unknown option "store"'],
  [
    'a store in the options of idempotency',
    { idempotency: { store: memoryIdempotencyStore() } },
    'unknown option "store"',
  ],
  ['a pool as storage', { storage: { query: () => undefined, options: {} } }, `storage: ${asStorage}`],
  ['billing without a currency', { billing: {} }, 'billing.currency: must name the currency of all prices'],
  ['a path as storage', { storage: 'gateway.db' }, `storage: ${asStorage}`],
  [
    'a store with missing methods',
    { storage: { limits: { take: () => undefined } } },
    'storage.limits: must be a store with take, give',
  ],
  [
    'a task store with missing methods',
    { storage: { tasks: {} } },
    'storage.tasks: must be a store with insert, find, replace, claim',
  ],
])('rejects %s', (_, options, message) => expect(create(options)).toThrow(message))

const billing = { currency: 'EUR' }
const capped = (cap: object) => ({ billing, groups: { default: { models: '*', caps: [{ name: 'c', ...cap }] } } })

test.each<[string, object, string]>([
  [
    'a name that is missing',
    capped({ name: undefined, period: 'day', calls: 1 }),
    'name: is missing; it must be a string',
  ],
  ['another type', { billing: true }, 'billing: must be an object, not a boolean'],
  ['a number for an amount', capped({ period: 'day', money: 2 }), 'caps.0.money: must be a string, not a number'],
  ['a function for a list', { inspect: () => undefined }, 'inspect: must be a list, not a function'],
  ['a fraction', capped({ period: 'day', calls: 1.5 }), 'caps.0.calls: must be a whole number'],
  ['a number that is too small', capped({ period: 'day', calls: -1 }), 'caps.0.calls: must be at least 0'],
  ['one of none', capped({ period: 'day', calls: 1, weekStart: 'tue' }), 'weekStart: must be one of monday, sunday'],
  [
    'a word for a period',
    capped({ period: 'daily', calls: 1 }),
    "caps.0.period: must be 'day', 'week', 'month' or { rollingMs, grainMs }",
  ],
  [
    'a period in a window of an odd length',
    capped({ period: { rollingMs: 7_200_000, grainMs: 7_000_000 }, calls: 1 }),
    'must divide "rollingMs"',
  ],
])('says what to write instead of %s', (_, options, message) => expect(create(options)).toThrow(message))

test('rejects the key "undefined" of an unset environment variable', () => {
  const { UNSET } = {} as Record<string, string>
  expect(create({ keys: { [String(UNSET)]: {} } })).toThrow('is a variable unset?')
})

test.each([{ 'sk-secret': 'default' }, { 'sk-secret': { group: 'x' } }, { 'sk-secret ': {} }])(
  'an error about a key does not contain the key: %j',
  (keys) => {
    expect(create({ keys })).toThrow(TypeError)
    expect(create({ keys })).not.toThrow('sk-secret')
  },
)

const query = async () => ({ rows: [] })

test.each<[string, (options: object) => unknown]>([
  ['openai', (options) => openai({ apiKey: 'k', ...options })],
  ['anthropic', (options) => anthropic({ apiKey: 'k', ...options })],
  ['gemini', (options) => gemini({ apiKey: 'k', ...options })],
  ['openaiVideo', (options) => openaiVideo({ apiKey: 'k', ...options })],
  ['demo', (options) => demo(options)],
  ['fromAiSdk', (options) => fromAiSdk({} as never, options)],
  ['sqlite', (options) => sqlite(':memory:', options)],
  ['postgres', (options) => postgres({ query }, options)],
  ['mysql', (options) => mysql({ getConnection: () => Promise.reject(new Error()) }, options)],
  ['redis', (options) => redis(async () => undefined, options)],
])('%s rejects a misspelled option instead of calling the default URL', (name, make) => {
  expect(() => make({ baseUrl: 'http://127.0.0.1:1' })).toThrow(new RegExp(`^${name}: unknown option "baseUrl"`))
})
