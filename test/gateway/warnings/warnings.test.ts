/** Likely mistakes: valid options that mean something else than they seem. Each has a code and says what to change. */
import { expect, onTestFinished, test } from 'vitest'
import {
  createGateway,
  memoryKeyStore,
  memoryLedger,
  memoryUsageStore,
  type GatewayOptions,
  type Logger,
} from '../../../src/index.ts'
import { anthropic, demo, elevenlabs, gemini, openai } from '../../../src/providers/index.ts'
import { prices } from '../../../adapters/prices/prices.ts'
import { adminApi } from '../../../src/admin/api/index.ts'

const price = { input: '2', output: '5' }
const priced = (given: object) => ({ m: { provider: demo(), price: { ...price, ...given } } })
const keys = { 'sk-a': { account: 'acme' } }
const billing = { currency: 'EUR' }
const cap = { name: 'daily', period: 'day', money: '1' } as const
const apiKey = 'sk-vendor'

function gatewayWith(options: Partial<GatewayOptions>) {
  const gateway = createGateway({ models: { m: demo() }, keys, ...options })
  onTestFinished(() => gateway.close({ graceMs: 0 }))
  return gateway
}

const found = (options: object) => gatewayWith(options).warnings()

test.each<[string, object, string, string, RegExp]>([
  ['no models', { models: {} }, 'no_models', 'models', /Add a model/],
  ['no keys and no `authenticate`', { keys: {} }, 'no_callers', 'keys', /401.*Add a key/],
  ['a vendor without a key', { models: { m: openai({}) } }, 'no_vendor_key', 'models["m"]', /"openai".*Set "apiKey"/],
  ['a preset without a key', { models: { m: openai({ preset: 'groq' }) } }, 'no_vendor_key', 'models["m"]', /"groq"/],
  ['Claude without a key', { models: { m: anthropic() } }, 'no_vendor_key', 'models["m"]', /Set "apiKey"/],
  ['Gemini without a key', { models: { 'g/*': gemini() } }, 'no_vendor_key', 'models["g/*"]', /Set "apiKey"/],
  ['speech without a key', { models: { m: elevenlabs() } }, 'no_vendor_key', 'models["m"]', /Set "apiKey"/],
  [
    'a base URL without `/v1`',
    { models: { m: { route: [{ provider: openai({ apiKey, baseURL: 'http://localhost:8000/' }) }] } } },
    'base_url_without_version',
    'models["m"]',
    /"http:\/\/localhost:8000" without a path.*"\/v1"/,
  ],
  [
    'a cap per user for keys without one',
    {
      models: priced({}),
      billing: { ...billing, caps: [{ ...cap, per: 'user' }] },
      keys: { a: { account: 'a' }, b: { account: 'a', user: 'x' } },
    },
    'cap_without_user',
    'billing.caps',
    /"daily" is per user and does not limit 1 of the keys.*per: 'key'/,
  ],
  [
    'a cap per user of a group for keys without one',
    { models: priced({}), billing, groups: { default: { models: '*', caps: [{ ...cap, per: 'user' }] } } },
    'cap_without_user',
    'groups.default.caps',
    /does not limit 1 of the keys/,
  ],
  [
    'keys without an account to top up',
    { models: priced({}), billing, keys: { a: {}, b: { account: 'acme' }, c: {} } },
    'key_without_account',
    'keys',
    /2 of the keys.*"key_…".*Set "account"/,
  ],
  [
    'a storage that keeps balances but no usage',
    { models: priced({}), billing, storage: { ledger: memoryLedger() } },
    'usage_in_memory',
    'storage',
    /no usage store.*Add "usage"/,
  ],
  ['a price without billing', { models: priced({}) }, 'price_without_billing', 'models["m"].price', /Add billing/],
  [
    'a factor on prices without billing',
    { groups: { default: { models: '*', priceMultiplier: '1.1' } } },
    'price_without_billing',
    'groups.default.priceMultiplier',
    /Add billing/,
  ],
  [
    'a ledger in memory beside keys in a database',
    { models: priced({}), billing, storage: { keys: memoryKeyStore([]) } },
    'balances_in_memory',
    'storage',
    /Add "ledger"/,
  ],
  ...['0.2', '20'].flatMap((factor): [string, object, string, string, RegExp][] => [
    [
      `a factor of a group of ${factor}`,
      { models: priced({}), billing, groups: { default: { models: '*', priceMultiplier: factor } } },
      'price_factor',
      'groups.default.priceMultiplier',
      /For 20 % more write '1.2'/,
    ],
    [
      `a margin of ${factor}`,
      { prices: prices({ margin: factor }) },
      'price_factor',
      'prices.margin',
      /For 20 % more write '1.2'/,
    ],
  ]),
  ...[
    ['eur', 'EUR'],
    ['Dollars', 'EUR'],
    ['€', 'EUR'],
    ['XYZ', 'EUR'],
  ].map(([currency, code]): [string, object, string, string, RegExp] => [
    `the currency ${currency}`,
    { models: priced({}), billing: { currency } },
    'unknown_currency',
    'billing.currency',
    new RegExp(`'${currency}', which is no currency.*'${code}'`),
  ]),
  [
    'a price of one token',
    { models: priced({ input: '0.0000025' }), billing },
    'price_per_token',
    'models["m"].price',
    /"input" is '0.0000025' for a million tokens.*Multiply/,
  ],
  [
    'an own price of a model that is not served',
    { models: { 'gpt-5': openai({ apiKey }) }, prices: prices({ own: { 'openai/gpt5': price } }) },
    'unused_own_price',
    'prices.own["openai/gpt5"]',
    /Served: openai\/gpt-5/,
  ],
  [
    'a threshold that is a fraction',
    { models: priced({}), billing: { ...billing, caps: [{ ...cap, thresholds: [0.8] }] } },
    'threshold_below_one',
    'billing.caps',
    /"daily" are percentages.*write 80/,
  ],
  [
    'a threshold of a key that is a fraction',
    { models: priced({}), billing, keys: { 'sk-a': { account: 'a', caps: [{ ...cap, thresholds: [0.5, 0.95] }] } } },
    'threshold_below_one',
    'keys[…].caps',
    /0.5, 0.95 is less than one percent/,
  ],
])('warns of %s', (_, options, code, where, message) => {
  expect(found(options)).toEqual([{ code, where, message: expect.stringMatching(message) as string }])
})

test.each<[string, object]>([
  ['keys in a store', { keys: {}, storage: { keys: memoryKeyStore([]) } }],
  ['keys without an account of which none pays', { billing: { ...billing, unpriced: 'free' }, keys: { a: {} } }],
  [
    'usage that is not recorded',
    { models: priced({}), billing, storage: { ledger: memoryLedger() }, usage: { record: false } },
  ],
  ['`authenticate`', { keys: undefined, authenticate: () => undefined }],
  ['a local server without a key', { models: { m: openai({ preset: 'ollama' }) } }],
  ['a key in a header', { models: { m: openai({ headers: { authorization: 'Bearer x' } }) } }],
  ["callers' own keys", { models: { m: openai() }, ownKeys: { credentials: () => ({ apiKey: 'x' }) } }],
  ['a vendor without a version', { models: { m: openai({ apiKey, preset: 'deepseek' }) } }],
  [
    'a cap per user for keys with users',
    {
      models: priced({}),
      billing: { ...billing, caps: [{ ...cap, per: 'user' }] },
      keys: { a: { account: 'a', user: 'x' } },
    },
  ],
  ['prices that choose the deployment', { models: { m: { provider: demo(), price, prefer: 'price' } } }],
  [
    'a ledger in the storage',
    { models: priced({}), billing, storage: { ledger: memoryLedger(), usage: memoryUsageStore() } },
  ],
  [
    'a discount, and a free group',
    {
      models: priced({}),
      billing,
      groups: { default: { models: '*', priceMultiplier: '0.5' }, staff: { models: '*', priceMultiplier: '0' } },
    },
  ],
  ['credits of its own', { models: priced({}), billing: { currency: 'credits' } }],
  [
    'a free model, and a cheap one',
    {
      models: {
        ...priced({}),
        free: { provider: demo(), price: { input: '0', output: '0' } },
        cheap: { provider: demo(), price: { input: '0.01', output: '0.01' } },
      },
      billing,
    },
  ],
  [
    'an own price of a wildcard',
    { models: { 'openai/*': openai({ apiKey }) }, prices: prices({ own: { 'openai/gpt5': price } }) },
  ],
  ['thresholds in percent', { models: priced({}), billing: { ...billing, caps: [{ ...cap, thresholds: [1, 80] }] } }],
])('does not warn of %s', (_, options) => expect(found(options)).toEqual([]))

test.each([
  ['openai', () => openai({ apiKey, baseURL: 'https://api.openai.com/v1/chat/completions' }), '/chat/completions'],
  ['openai', () => openai({ apiKey, baseURL: 'http://localhost/v1/responses/' }), '/responses'],
  ['anthropic', () => anthropic({ apiKey, baseURL: 'https://api.anthropic.com/v1/messages' }), '/messages'],
  [
    'gemini',
    () => gemini({ apiKey, baseURL: 'https://g.example/v1beta/models/gemini-x:generateContent' }),
    '/models/gemini-x:generateContent',
  ],
])('%s refuses a base URL that ends in an endpoint', (_, make, path) => expect(make).toThrow(`remove "${path}"`))

test('the logger gets each warning once, at the start', async () => {
  const lines: unknown[] = []
  const logger: Logger = { warn: (...line) => lines.push(line), error: () => undefined }
  const gateway = gatewayWith({ models: { m: openai() }, keys: {}, logger })
  gateway.warnings()
  expect(lines).toEqual(
    gateway.warnings().map(({ code, where, message }) => ['likely misconfiguration', { code, where, advice: message }]),
  )
  expect(lines).toHaveLength(2)
})

test('the admin API lists them for the operator, and customers get what does not exist', async () => {
  const gateway = gatewayWith({ keys: {} })
  const ask = (identity: { role: 'admin' } | { role: 'account'; account: string }) =>
    adminApi(gateway, { authorize: () => identity }).handle({
      method: 'GET',
      target: '/warnings',
      headers: { host: 'localhost' },
    } as never)
  const { body } = await ask({ role: 'admin' })
  expect(JSON.parse(body as string)).toEqual({ items: gateway.warnings() })
  expect((await ask({ role: 'account', account: 'acme' })).status).toBe(404)
})

test('a cap per user that does not limit a call is found with the first such call', async () => {
  const lines: unknown[] = []
  const caps = [{ name: 'person', per: 'user', period: 'day', calls: 1 }] as const
  const gateway = gatewayWith({
    models: { m: demo() },
    keys: {},
    authenticate({ headers }) {
      const user = headers['x-user']
      return { account: 'acme', group: 'default', ...(typeof user === 'string' && { user }) }
    },
    groups: { default: { models: '*', caps } },
    billing: { ...billing, unpriced: 'free' },
    logger: { warn: (...line) => lines.push(line), error: () => undefined },
  })
  await gateway.admin.accounts.open({ id: 'acme', unlimited: true })
  const ask = async (headers: Record<string, string>) => {
    const text = JSON.stringify({ model: 'm', user: 'ada', messages: [{ role: 'user', content: 'Hello' }] })
    const body = { state: 'text', text } as const
    const target = '/v1/chat/completions'
    const signal = new AbortController().signal
    return (await gateway.handle({ method: 'POST', target, headers, body, signal })).status
  }
  expect([await ask({ 'x-user': 'eve' }), await ask({ 'x-user': 'eve' })]).toEqual([200, 429])
  expect(gateway.warnings()).toEqual([])
  expect([await ask({}), await ask({})]).toEqual([200, 200])
  const message = expect.stringMatching(/"person".*has no user.*the field "user" of a request does not count/) as string
  expect(gateway.warnings()).toEqual([{ code: 'cap_without_user', where: 'groups.default.caps', message }])
  expect(lines).toHaveLength(1)
})
