import { describe, expect, test } from 'vitest'
import { createGateway, memoryLedger, type GatewayOptions } from '../../src/index.ts'
import { demo } from '../../src/providers/index.ts'
import { askChat, hostedWith } from '../hosted.ts'

const noon = Date.parse('2026-11-22T12:00:00Z')
const nextMonth = Date.parse('2026-12-01T00:00:00Z')

function options(now: () => number): GatewayOptions {
  return {
    clock: now,
    models: { m: { provider: demo(), price: { input: '1', output: '1' } } },
    groups: {
      default: { models: '*', caps: [{ name: 'tokens', period: 'day', tokens: 10_000, per: 'user' }] },
      pro: { models: '*', caps: [{ name: 'pro', period: 'week', money: null }] },
    },
    billing: { currency: 'EUR', caps: [{ name: 'monthly', period: 'month', money: '100', calls: 50 }] },
    storage: { ledger: memoryLedger({ clock: now }) },
  }
}

async function opened() {
  let now = noon
  const hosted = await hostedWith(options(() => now))
  const { admin } = hosted.gateway
  await admin.accounts.topUp({ account: 'acme', amount: '500', reference: 'start' })
  return { ...hosted, admin, pass: (ms: number) => void (now += ms) }
}

const nothing = { money: '0', tokens: 0, calls: 0 }

describe('caps', () => {
  test('are listed with what is used, what is held, and when they reset', async () => {
    const { admin, url, receipt } = await opened()
    const { key, record } = await admin.keys.create({
      account: 'acme',
      group: 'default',
      user: 'ann',
      caps: [{ name: 'mine', period: { rollingMs: 3_600_000 }, calls: 3 }],
    })
    const { id } = record
    expect(record.caps).toEqual([{ name: 'mine', period: { rollingMs: 3_600_000 }, calls: 3 }])
    const answer = await askChat(
      url,
      {},
      { headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } },
    )
    expect(answer.status).toBe(200)
    const { usage, charge } = await receipt()
    const used = { money: charge?.cost, tokens: usage.total_tokens, calls: 1 }
    const caps = await admin.caps.list({ account: 'acme', key: id })
    expect(caps).toEqual([
      {
        cap: 'mine',
        per: 'key',
        start: noon,
        resetsAt: noon + 150_000 + 3_600_000,
        limits: { calls: 3 },
        used,
        held: nothing,
        overrides: [],
      },
      {
        cap: 'tokens',
        per: 'user',
        start: Date.parse('2026-11-22T00:00:00Z'),
        resetsAt: Date.parse('2026-11-23T00:00:00Z'),
        limits: { tokens: 10_000 },
        used,
        held: nothing,
        overrides: [],
      },
      {
        cap: 'monthly',
        per: 'account',
        start: Date.parse('2026-11-01T00:00:00Z'),
        resetsAt: nextMonth,
        limits: { money: '100', calls: 50 },
        used,
        held: nothing,
        overrides: [],
      },
    ])
    expect((await admin.caps.list({ account: 'acme' })).map(({ cap }) => cap)).toEqual(['monthly'])
    expect((await admin.caps.list({ account: 'acme', group: 'pro' })).map(({ cap, limits }) => [cap, limits])).toEqual([
      ['pro', {}],
      ['monthly', { money: '100', calls: 50 }],
    ])
    // A rotated key goes on with the caps and the use of the first.
    const { record: next } = await admin.keys.rotate('acme', id)
    expect(await admin.caps.list({ account: 'acme', key: next.id })).toEqual(caps)
  })

  test('are overridden for a time or for good, at once, and cleared', async () => {
    const { admin, url, pass } = await opened()
    const subject = { account: 'acme', cap: 'monthly' }
    const { key } = await admin.keys.create({ account: 'acme', group: 'default' })
    const ask = async () => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      return (await askChat(url, {}, { headers })).status
    }
    const blocked = await admin.caps.override({ ...subject, limits: { calls: 0 } })
    expect(blocked).toMatchObject({ limits: { money: '100', calls: 0 }, overrides: [{ calls: 0 }] })
    expect(await ask()).toBe(429)
    const until = noon + 60_000
    const raised = await admin.caps.override({ ...subject, limits: { calls: null, money: '200.5' }, until })
    expect(raised).toMatchObject({
      limits: { money: '200.5' },
      overrides: [{ calls: 0 }, { calls: null, money: '200.5', until }],
    })
    expect(await ask()).toBe(200)
    pass(60_000)
    expect(await ask()).toBe(429)
    expect(await admin.caps.clear(subject)).toMatchObject({ limits: { money: '100', calls: 50 }, overrides: [] })
    expect(await ask()).toBe(200)
    // Another account is not affected.
    expect(await admin.caps.list({ account: 'other' })).toMatchObject([{ limits: { money: '100', calls: 50 } }])
  })

  test('of an account can be limited where the options set no limit', async () => {
    const { admin } = await opened()
    const { limits } = await admin.caps.override({ account: 'acme', group: 'pro', cap: 'pro', limits: { money: '5' } })
    expect(limits).toEqual({ money: '5' })
  })

  test('of a key are changed without losing what was used', async () => {
    const { admin, url, receipt } = await opened()
    const caps = [{ name: 'mine', period: 'day', calls: 1 } as const]
    const { key, record } = await admin.keys.create({ account: 'acme', group: 'default', caps })
    const ask = async () => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const { status } = await askChat(url, {}, { headers })
      if (status === 200) await receipt()
      return status
    }
    expect([await ask(), await ask()]).toEqual([200, 429])
    await admin.keys.update('acme', record.id, { caps: [{ name: 'mine', period: 'day', calls: 2 }] })
    expect([await ask(), await ask()]).toEqual([200, 429])
    await admin.keys.update('acme', record.id, { caps: null })
    expect(await ask()).toBe(200)
  })

  test('are checked: unknown caps, keys and groups, measures, times and names', async () => {
    const { admin } = await opened()
    const subject = { account: 'acme', cap: 'monthly' }
    await expect(admin.caps.override({ ...subject, cap: 'x', limits: { calls: 1 } })).rejects.toMatchObject({
      status: 404,
      param: 'cap',
    })
    await expect(admin.caps.list({ account: 'acme', key: 'key_x' })).rejects.toMatchObject({
      status: 404,
      param: 'key',
    })
    await expect(admin.caps.list({ account: 'acme', group: 'x' })).rejects.toMatchObject({
      status: 400,
      param: 'group',
    })
    await expect(admin.caps.override({ ...subject, limits: { tokens: 5 } })).rejects.toMatchObject({
      status: 400,
      param: 'limits.tokens',
    })
    await expect(admin.caps.override({ ...subject, limits: {} })).rejects.toMatchObject({ status: 400 })
    await expect(admin.caps.override({ ...subject, limits: { money: '-1' } })).rejects.toMatchObject({ status: 400 })
    await expect(admin.caps.override({ ...subject, limits: { calls: 1 }, until: noon })).rejects.toMatchObject({
      param: 'until',
    })
    const key = { account: 'acme', group: 'default' }
    const clash = [{ name: 'monthly', period: 'day', calls: 1 } as const]
    await expect(admin.keys.create({ ...key, caps: clash })).rejects.toMatchObject({ status: 400, param: 'caps' })
    const bad = [{ name: 'mine', period: 'year', calls: 1 } as never]
    await expect(admin.keys.create({ ...key, caps: bad })).rejects.toMatchObject({ status: 400 })
  })

  test('are refused without billing', async () => {
    const gateway = createGateway({ models: {} })
    await expect(gateway.admin.caps.list({ account: 'acme' })).rejects.toMatchObject({ status: 400 })
    const caps = [{ name: 'mine', period: 'day', calls: 1 } as const]
    await expect(gateway.admin.keys.create({ account: 'acme', group: 'default', caps })).rejects.toMatchObject({
      status: 400,
      param: 'caps',
    })
  })
})
