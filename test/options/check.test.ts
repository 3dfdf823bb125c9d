/** Mistakes in the options are rejected at once, with a message that says what to change. */
import { expect, test } from 'vitest'
import {
  createGateway,
  memoryIdempotencyStore,
  memoryKeyStore,
  memoryResponseStore,
  memoryTaskStore,
} from '../../src/index.ts'
import { anthropic, demo, gemini, openai, openaiVideo } from '../../src/providers/index.ts'
import { fromAiSdk } from '../../adapters/bridges/ai-sdk/ai-sdk.ts'
import { postgres } from '../../adapters/stores/postgres/postgres.ts'
import { redis } from '../../adapters/stores/redis/redis.ts'
import { sqlite } from '../../adapters/stores/sqlite/sqlite.ts'

const models = { demo: demo(), 'open/*': demo() }
const given = (options: object) => () => createGateway({ models, ...options })
const none = (name: string) => new RegExp(`unknown option "${name}". Valid options: .*[a-z]`)

test.each([
  ['an option', { key: {} }, none('key')],
  ['an option in a group of them', { timeouts: { firstByte: 1 } }, none('firstByte')],
  ['an option of a key', { keys: { 'sk-a': { grup: 'x' } } }, none('grup')],
  ['an option of a model', { models: { m: { provider: demo(), alias: [] } } }, none('alias')],
  ['a field of a price', { models: { m: { provider: demo(), price: { inptu: '2' } } } }, none('inptu')],
  ['a model in a group', { groups: { default: { models: ['demoo'] } } }, none('demoo')],
  ['a group of a model', { models: { m: { provider: demo(), groups: ['x'] } } }, none('x')],
])('%s that is none', (_, options, message) => expect(given(options)).toThrow(message))

test.each([
  { timeouts: { firstContentMs: 3e9 } },
  { timeouts: { storeMs: Infinity } },
  { sizes: { bodyIdleMs: 2 ** 31 } },
  { billing: { leaseMs: 2 ** 31, currency: 'CNY' } },
])('a time that no timer can count would be none at all, and is refused: %j', (options) => {
  const [[group, fields] = ['', {}]] = Object.entries<object>(options)
  expect(given(options)).toThrow(`${group}.${Object.keys(fields)[0]}: `)
})

test.each([
  { default: { models: ['demo'] } },
  { default: { models: ['d*'] } },
  { default: { models: ['open/gpt'] } },
  { default: { models: ['open/g*'] } },
  { default: { models: ['o*'] } },
])('a group may name what can be asked for: %j', (groups) => expect(given({ groups })).not.toThrow())

const asName = "must map names to models, such as { 'gpt-5': openai({ apiKey }) }"
const asProvider = 'must be a provider, such as openai({ apiKey }), or { provider, … }'
const asKeys =
  "must map each key to its options, such as { 'sk-…': {} }. A key store belongs into storage: { keys: store }"
const asStorage = "must hold stores, such as sqlite('gateway.db') or postgres(pool)"

test.each([
  ['no models', { models: undefined }, `models: ${asName}`],
  ['a list of models', { models: ['demo'] }, `models: ${asName}`],
  ['a provider that was not called', { models: { m: demo } }, `models["m"]: ${asProvider}`],
  ['a model that is its name', { models: { m: 'gpt-5' } }, `models["m"]: ${asProvider}`],
  ['a model with a name of its own', { models: { m: { name: 'gpt', provider: demo() } } }, 'remove "name"'],
  [
    'an alias that is a model',
    { models: { a: demo(), b: { provider: demo(), aliases: ['a'] } } },
    'already the name of another model',
  ],
  ['a list of keys', { keys: ['sk-a'] }, `keys: ${asKeys}`],
  ['a store of keys as the keys', { keys: memoryKeyStore() }, `keys: ${asKeys}`],
  ['a store of responses by its own name', { responses: memoryResponseStore() }, 'unknown option "responses"'],
  ['a store in the options of tasks', { tasks: { store: memoryTaskStore() } }, 'unknown option "store"'],
  ['a store in those of idempotency', { idempotency: { store: memoryIdempotencyStore() } }, 'unknown option "store"'],
  ['a pool as storage', { storage: { query: () => undefined, options: {} } }, `storage: ${asStorage}`],
  ['billing without a currency', { billing: {} }, 'billing.currency: must name the currency of all prices'],
  ['a path as storage', { storage: 'gateway.db' }, `storage: ${asStorage}`],
  [
    'half a store',
    { storage: { limits: { take: () => undefined } } },
    'storage.limits: must be a store with take, give',
  ],
  ['half a task store', { storage: { tasks: {} } }, 'storage.tasks: must be a store with insert, find, replace, claim'],
])('%s', (_, options, message) => expect(given(options)).toThrow(message))

test('the key that an unset variable makes lets nobody in', () => {
  const { UNSET } = {} as Record<string, string>
  expect(given({ keys: { [String(UNSET)]: {} } })).toThrow('is a variable unset?')
})

test.each([{ 'sk-secret': 'default' }, { 'sk-secret': { group: 'x' } }, { 'sk-secret ': {} }])(
  'what is wrong with a key is told without the key: %j',
  (keys) => {
    expect(given({ keys })).toThrow(TypeError)
    expect(given({ keys })).not.toThrow('sk-secret')
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
  ['redis', (options) => redis(async () => undefined, options)],
])('%s does not take a call elsewhere because of a slip', (name, make) => {
  expect(() => make({ baseUrl: 'http://127.0.0.1:1' })).toThrow(new RegExp(`^${name}: unknown option "baseUrl"`))
})
