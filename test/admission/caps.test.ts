import { describe, expect, test } from 'vitest'
import { createGateway, memoryLedger, type GatewayOptions, type Ledger } from '../../src/index.ts'
import type { VendorReply } from '../../src/testing/vendor.ts'
import { askChat } from '../hosted.ts'
import { methodsOf } from '../testing/faults.ts'
import { scene, whole, type SceneOptions } from './scene.ts'

const start = Date.parse('2026-11-22T12:00:00Z')

async function ledgerAt(clock: () => number, ...accounts: string[]): Promise<Ledger> {
  const ledger = memoryLedger({ clock })
  for (const account of accounts)
    await ledger.credit({ account, amount: 1_000_000_000n, reference: `start ${account}` })
  return ledger
}

/** A gateway whose clock is that of the test. The model costs one micro-unit a token; each answer has 30. */
async function capped(options: SceneOptions, reply: VendorReply = whole) {
  let now = start
  const clock = () => now
  const ledger = await ledgerAt(clock, 'acme', 'other')
  const made = await scene(reply, {
    clock,
    ...options,
    billing: { currency: 'EUR', ...options.billing },
    storage: { ledger },
  })
  return { ...made, ledger, clock, pass: (ms: number) => void (now += ms) }
}

const short = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 20 }

interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly error?: { readonly message: string; readonly code: string; readonly param: string | null }
}

async function send(url: string, body: object, headers: Record<string, string>): Promise<Answered> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const { error } = (await response.json()) as Pick<Answered, 'error'>
  return { status: response.status, headers: response.headers, ...(error && { error }) }
}

function ask(url: string, changes: object = {}, key = 'sk-test'): Promise<Answered> {
  return send(url, { ...short, ...changes }, { authorization: `Bearer ${key}` })
}

describe('a cap', () => {
  test('of calls: the call that would pass it gets a 429 that names the cap, what is used, and when it resets', async () => {
    const { url, vendor, receipt, pass } = await capped({
      keys: { 'sk-test': { account: 'acme', caps: [{ name: 'daily', period: 'day', calls: 2 }] } },
    })
    for (let count = 0; count < 2; count++) {
      expect((await ask(url)).status).toBe(200)
      await receipt()
    }
    const refused = await ask(url)
    expect(refused.status).toBe(429)
    expect(refused.error).toMatchObject({ code: 'insufficient_quota', param: null })
    expect(refused.error?.message).toBe(
      'The cap "daily" of this key is reached: 2 calls used, of 2 calls; this request may use up to 1 call. ' +
        'It resets at 2026-11-23T00:00:00.000Z.',
    )
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(refused.headers.get('retry-after')).toBe('60')
    expect(vendor.requests).toHaveLength(2)
    pass(12 * 3_600_000 - 30_000)
    expect((await ask(url)).headers.get('retry-after')).toBe('30')
    pass(30_000)
    expect((await ask(url)).status).toBe(200)
  })

  test('of money: holds the most that a call can cost, and counts what it cost', async () => {
    const { url, ledger, receipt } = await capped({
      groups: { default: { models: '*', caps: [{ name: 'monthly', period: 'month', money: '0.0002' }] } },
    })
    // A call holds a micro-unit for each of the 76 bytes of the request, and 20 for the answer; it costs 30.
    for (let count = 0; count < 4; count++) {
      expect((await ask(url)).status).toBe(200)
      expect((await receipt()).charge?.cost).toBe('0.00003')
    }
    const refused = await ask(url)
    expect(refused.status).toBe(429)
    expect(refused.error?.message).toBe(
      'The cap "monthly" of this account is reached: 0.00012 EUR used, of 0.0002 EUR; ' +
        'this request may use up to 0.000096 EUR. It resets at 2026-12-01T00:00:00.000Z.',
    )
    expect(await ledger.account('acme')).toMatchObject({ held: 0n, balance: 1_000_000_000n - 120n })
  })

  test('of tokens: counts those that the vendor reports', async () => {
    const { url, receipt } = await capped({
      billing: { currency: 'EUR', caps: [{ name: 'tokens', period: 'week', tokens: 300 }] },
    })
    const statuses = []
    for (let count = 0; count < 9; count++) {
      const { status } = await ask(url)
      statuses.push(status)
      if (status === 200) await receipt()
    }
    // 30 tokens a call; a call holds about 100.
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 429, 429])
  })

  test('a request that can never fit is told so', async () => {
    const { url } = await capped({
      groups: { default: { models: '*', caps: [{ name: 'monthly', period: 'month', money: '0.00001' }] } },
    })
    const { status, headers, error } = await ask(url)
    expect(status).toBe(429)
    expect(error?.message).toContain('more than the cap "monthly" of this account allows in a period: 0.00001 EUR')
    expect(headers.get('retry-after')).toBeNull()
    expect(headers.get('x-should-retry')).toBe('false')
  })

  test('failed calls do not count; calls without a price count for calls and tokens', async () => {
    let fails = true
    const reply: VendorReply = (request, response) => {
      if (!fails) return whole(request, response)
      response.statusCode = 400
      response.end('{"error":{"message":"no"}}')
    }
    const caps = [{ name: 'calls', period: 'day', calls: 1 } as const]
    const { url, receipt } = await capped(
      { model: { price: { input: '0', output: '0' } }, keys: { 'sk-test': { account: 'new', caps } } },
      reply,
    )
    expect((await ask(url)).status).toBe(400)
    await receipt()
    fails = false
    expect((await ask(url)).status).toBe(200)
    await receipt()
    expect((await ask(url)).status).toBe(429)
  })

  test('counts per account, per key, per user or for all, each apart', async () => {
    const perUser = (header: string | undefined) => ({
      account: 'acme',
      group: 'default',
      ...(header && { user: header }),
    })
    const { url, receipt } = await capped({
      keys: { 'sk-a': { account: 'acme' }, 'sk-b': { account: 'acme' }, 'sk-c': { account: 'other' } },
      authenticate: ({ headers }) => {
        const user = headers['x-user']
        return user === undefined ? undefined : perUser(String(user))
      },
      groups: {
        default: {
          models: '*',
          caps: [
            { name: 'user', period: 'day', calls: 1, per: 'user' },
            { name: 'key', period: 'day', calls: 2, per: 'key' },
            { name: 'account', period: 'day', calls: 4 },
            { name: 'all', period: 'day', calls: 6, per: 'all' },
          ],
        },
      },
    })
    const call = async (headers: Record<string, string>, changes: object = {}) => {
      const { status, error } = await send(url, { ...short, ...changes }, headers)
      if (error === undefined) await receipt()
      return /cap "(\w+)"/.exec(error?.message ?? '')?.[1] ?? status
    }
    const key = (name: string) => ({ authorization: `Bearer sk-${name}` })
    expect(await call({ 'x-user': 'ann' })).toBe(200)
    expect(await call({ 'x-user': 'ann' })).toBe('user')
    expect(await call({ 'x-user': 'bob' })).toBe(200)
    // A caller without a key: its own count is that of the account's keyless calls.
    expect(await call({ 'x-user': 'eve' })).toBe('key')
    // The user that a request names is chosen by the client.
    expect(await call(key('a'), { user: 'ann' })).toBe(200)
    expect(await call(key('a'))).toBe(200)
    expect(await call(key('a'))).toBe('key')
    expect(await call(key('b'))).toBe('account')
    expect(await call(key('c'))).toBe(200)
    expect(await call(key('c'))).toBe(200)
    expect(await call(key('c'))).toBe('key')
  })

  test('counts per tag, per group, per model, and of some models', async () => {
    const key = (account: string, group: string, ...tags: string[]) => ({ account, group, tags })
    const caps = [
      { name: 'tag', period: 'day', calls: 1, per: 'tag' },
      { name: 'group', period: 'day', calls: 4, per: 'group' },
      { name: 'big', period: 'day', calls: 1, models: ['big*'] },
    ] as const
    const { url, receipt, gateway } = await capped({
      keys: {
        'sk-a': key('acme', 'one', 'red', 'blue'),
        'sk-b': key('acme', 'one', 'blue'),
        'sk-c': key('other', 'one', 'blue'),
        'sk-d': key('acme', 'one'),
        'sk-e': key('acme', 'two'),
        'sk-f': key('other', 'two'),
      },
      groups: { one: { models: '*', caps }, two: { models: '*' } },
      billing: { currency: 'EUR', caps: [{ name: 'model', period: 'day', calls: 3, per: 'model' }] },
      models: (provider) => ({
        m: { provider, price: { input: '1', output: '1' } },
        'big-one': { provider, price: { input: '1', output: '1' }, aliases: ['large'] },
      }),
    })
    const call = async (name: string, model = 'm') => {
      const { status, error } = await ask(url, { model }, `sk-${name}`)
      if (error === undefined) await receipt()
      return /cap "(\w+)"/.exec(error?.message ?? '')?.[1] ?? status
    }
    expect(await call('a')).toBe(200)
    expect(await call('b')).toBe('tag')
    // The tag of another account is another one.
    expect(await call('c')).toBe(200)
    // An alias is the same model.
    expect(await call('d', 'large')).toBe(200)
    expect(await call('d', 'big-one')).toBe('big')
    expect(await call('d')).toBe(200)
    expect(await call('d')).toBe('group')
    expect(await call('e')).toBe('model')
    expect(await call('f', 'large')).toBe(200)
    const { caps: admin } = gateway.admin
    const subject = { account: 'acme', group: 'one', tag: 'red', model: 'big-one' }
    const known = await admin.list(subject)
    expect(known.map(({ cap, per, tag, used }) => [cap, per, tag, used.calls])).toEqual([
      ['tag', 'tag', 'red', 1],
      ['group', 'group', undefined, 4],
      ['big', 'account', undefined, 1],
      ['model', 'model', undefined, 2],
    ])
    await admin.override({ ...subject, cap: 'big', limits: { calls: 2 } })
    await admin.override({ ...subject, cap: 'group', limits: { calls: 5 } })
    expect(await call('d', 'large')).toBe(200)
    const bare = await admin.list({ account: 'acme', group: 'one' })
    expect(bare.map(({ cap }) => cap)).toEqual(['group'])
  })

  test('of all callers does not tell what others use', async () => {
    const { url, receipt } = await capped({
      keys: { 'sk-test': { account: 'acme' }, 'sk-other': { account: 'other' } },
      billing: { currency: 'EUR', caps: [{ name: 'house', period: 'month', calls: 1, per: 'all' }] },
    })
    await ask(url)
    await receipt()
    const { error } = await ask(url, {}, 'sk-other')
    expect(error?.message).toBe('The cap "house" of all callers is reached. It resets at 2026-12-01T00:00:00.000Z.')
  })

  test('while open calls hold the rest, a call may be repeated soon', async () => {
    const asked = Promise.withResolvers<() => void>()
    const reply: VendorReply = (request, response) => asked.resolve(() => void whole(request, response))
    const { url, receipt } = await capped(
      { groups: { default: { models: '*', caps: [{ name: 'c', period: 'day', calls: 1 }] } } },
      reply,
    )
    const first = ask(url)
    const release = await asked.promise
    const { headers, error } = await ask(url)
    expect(error?.message).toContain('0 calls used and 1 call held for open requests, of 1 call')
    expect([headers.get('x-should-retry'), headers.get('retry-after')]).toEqual(['true', '1'])
    release()
    expect((await first).status).toBe(200)
    await receipt()
  })

  test('begins anew at midnight in its time zone, and a late call counts in the period of its hold', async () => {
    const caps = [{ name: 'daily', period: 'day', timeZone: 'America/New_York', calls: 1 } as const]
    const { url, receipt, pass } = await capped({ keys: { 'sk-test': { account: 'acme', caps } } })
    expect((await ask(url)).status).toBe(200)
    await receipt()
    expect((await ask(url)).error?.message).toContain('It resets at 2026-11-23T05:00:00.000Z.')
    pass(Date.parse('2026-11-23T05:00:00Z') - start)
    expect((await ask(url)).status).toBe(200)
  })

  test('of a rolling window lets a call through when the first one has left it', async () => {
    const caps = [{ name: 'hourly', period: { rollingMs: 3_600_000, grainMs: 60_000 }, calls: 1 } as const]
    const { url, receipt, pass } = await capped({ keys: { 'sk-test': { account: 'acme', caps } } })
    expect((await ask(url)).status).toBe(200)
    await receipt()
    pass(3_600_000)
    expect((await ask(url)).error?.message).toContain('It resets at 2026-11-22T13:01:00.000Z.')
    pass(60_000)
    expect((await ask(url)).status).toBe(200)
  })

  test('does not stop other endpoints that cost nothing, and a call without caps asks for none', async () => {
    const seen: unknown[] = []
    const inner = await ledgerAt(() => start, 'acme')
    const ledger: Ledger = new Proxy(inner, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown
        if (name === 'hold') return (hold: { caps?: unknown }) => (seen.push(hold.caps), target.hold(hold as never))
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    const { url } = await scene(whole, { billing: { currency: 'EUR' }, storage: { ledger } })
    expect((await askChat(url)).status).toBe(200)
    expect(seen).toEqual([undefined])
  })

  test('that authenticate returns is checked', async () => {
    const caller = { account: 'acme', group: 'default', caps: [{ name: 'c', period: 'year', calls: 1 } as never] }
    const { url, vendor } = await capped({ authenticate: () => caller })
    expect((await ask(url)).status).toBe(500)
    expect(vendor.requests).toHaveLength(0)
  })

  test('whenDown: local never applies to caps', async () => {
    const down = () => {
      throw new Error('down')
    }
    const inner = await ledgerAt(() => start, 'acme')
    const ledger = { ...methodsOf(inner), hold: down, settle: down, release: down }
    const { url, vendor } = await scene(whole, {
      billing: { currency: 'EUR', caps: [{ name: 'c', period: 'day', calls: 9 }] },
      limits: { whenDown: 'local' },
      groups: { default: { models: '*', rate: { requests: '100/min' } } },
      storage: { ledger, limits: { take: down, give: down, renew: down } },
    })
    expect((await ask(url)).status).toBe(503)
    expect(vendor.requests).toHaveLength(0)
  })
})

describe('options with caps', () => {
  const models: GatewayOptions['models'] = {}
  const cap = { name: 'c', period: 'day', calls: 1 } as const

  function made(options: Partial<GatewayOptions>) {
    return () => createGateway({ models, ...options })
  }

  test('are refused without billing, and with a ledger that has no caps', () => {
    const ledger = { ...memoryLedger(), caps: undefined } as unknown as Ledger
    const methods = ['hold', 'settle', 'release', 'renew', 'credit', 'open', 'account', 'audit']
    const uncapped = Object.assign(ledger, Object.fromEntries(methods.map((name) => [name, () => undefined])))
    const groups = { default: { models: '*', caps: [cap] } } as const
    expect(made({ groups })).toThrow('groups.default.caps: requires the option billing')
    expect(made({ groups, billing: { currency: 'EUR' }, storage: { ledger: uncapped } })).toThrow(
      'groups.default.caps: requires a ledger with caps, which the one in "storage" does not have',
    )
    expect(made({ billing: { currency: 'EUR', lowBalance: ['5'] }, storage: { ledger: uncapped } })).toThrow(
      'billing.lowBalance: requires a ledger with caps',
    )
    expect(made({ groups, billing: { currency: 'EUR' } })).not.toThrow()
  })

  test.each([
    [{ ...cap, name: 'a b' }, 'must be 1 to 64 letters'],
    [{ name: 'c', period: 'day' }, 'must limit "money", "tokens" or "calls"'],
    [{ ...cap, period: 'year' }, 'billing.caps.0.period'],
    [{ ...cap, timeZone: 'Mars' }, 'must be an IANA time zone'],
    [{ ...cap, period: { rollingMs: 1_000 } }, 'billing.caps.0.period'],
    [{ ...cap, period: { rollingMs: 3_600_000, grainMs: 7 } }, 'billing.caps.0.period'],
    [{ ...cap, money: 5 }, 'billing.caps.0.money'],
    [{ ...cap, money: '-5' }, 'must be a decimal number in a string'],
    [{ ...cap, calls: 1.5 }, 'billing.caps.0.calls'],
    [{ ...cap, thresholds: [0] }, 'billing.caps.0.thresholds'],
    [{ ...cap, limit: 5 }, 'unknown option "limit"'],
  ])('%j is refused: %s', (given, message) => {
    expect(made({ billing: { currency: 'EUR', caps: [given as never] } })).toThrow(message)
  })

  test('need names that differ among the caps of a caller', () => {
    const billing = { currency: 'EUR', caps: [cap] }
    expect(made({ billing: { currency: 'EUR', caps: [cap, cap] } })).toThrow('must have different names')
    expect(made({ billing, groups: { default: { models: '*', caps: [cap] } } })).toThrow('the name "c" is used')
    expect(made({ billing, keys: { 'sk-test': { caps: [cap] } } })).toThrow('keys[…].caps: the name "c" is used')
  })
})
