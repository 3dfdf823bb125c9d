/** Keys across accounts, keys for some models only, and rotation. */
import { expect, test } from 'vitest'
import {
  createGateway,
  memoryAuditStore,
  memoryKeyStore,
  type GatewayOptions,
  type KeyRecord,
} from '../../src/index.ts'
import type { AuditEntry } from '../../src/admin/audit/contract.ts'
import { demo } from '../../src/providers/index.ts'
import { hosted } from '../hosted.ts'

async function service(options: Partial<GatewayOptions> = {}) {
  let now = Date.UTC(2030, 0, 1)
  const gateway = createGateway({
    models: { small: demo(), large: demo(), 'open-1': demo() },
    clock: () => now,
    usage: { record: true },
    ...options,
  })
  const url = await hosted(gateway)
  const models = async (key: string) => {
    const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    if (response.status !== 200) return response.status
    return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
  }
  const chat = async (key: string, model: string) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] })
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
    await response.text()
    return response.status
  }
  return { admin: gateway.admin, models, chat, pass: (ms: number) => void (now += ms) }
}

test('keys of all accounts are searched, filtered and paged, without their hashes', async () => {
  const { admin, pass } = await service({ keys: { 'sk-of-the-options': { account: 'house', name: 'from options' } } })
  for (const [account, name] of [
    ['acme', 'Laptop'],
    ['acme', 'server'],
    ['bolt', 'laptop 2'],
  ] as const) {
    pass(1)
    await admin.keys.create({ account, group: 'default', name, tags: [account] })
  }
  const names = async (question: Parameters<typeof admin.keys.search>[0]) =>
    (await admin.keys.search(question)).items.map((item) => item.name)
  expect(await names({})).toEqual(['laptop 2', 'server', 'Laptop', 'from options'])
  expect(await names({ text: 'LAPTOP' })).toEqual(['laptop 2', 'Laptop'])
  expect(await names({ tag: 'acme', state: 'active' })).toEqual(['server', 'Laptop'])
  const first = await admin.keys.search({ limit: 3 })
  expect(first.items).toHaveLength(3)
  expect(JSON.stringify(first)).not.toContain('hash')
  expect((await admin.keys.search({ limit: 3, after: first.next ?? '' })).items.map(({ name }) => name)).toEqual([
    'from options',
  ])
  await expect(admin.keys.search({ after: 'nonsense' })).rejects.toMatchObject({ status: 400, param: 'after' })
  await expect(admin.keys.search({ state: 'lost' as never })).rejects.toMatchObject({ status: 400, param: 'state' })
})

test('a key with a list of models sees and uses only these, and never more than its group', async () => {
  const { admin, models, chat } = await service({ groups: { default: { models: ['small', 'open-*'] } } })
  const { key, record } = await admin.keys.create({ account: 'a', group: 'default', models: ['open-*', 'large'] })
  expect(await models(key)).toEqual(['open-1'])
  expect([await chat(key, 'open-1'), await chat(key, 'small'), await chat(key, 'large')]).toEqual([200, 404, 404])
  await admin.keys.update('a', record.id, { models: null })
  expect(await models(key)).toEqual(['small', 'open-1'])
  await admin.keys.update('a', record.id, { models: [] })
  expect(await models(key)).toEqual([])
})

test('a rotated key is valid for the overlap, keeps its properties, and both count as one', async () => {
  const { admin, models, chat, pass } = await service()
  const rate = { requests: '2/day' } as const
  const properties = { name: 'laptop', user: 'ada', tags: ['t'], rate, models: ['small'], addresses: ['127.0.0.1'] }
  const old = await admin.keys.create({ account: 'a', group: 'default', ...properties })
  expect(await chat(old.key, 'small')).toBe(200)
  const rotated = await admin.keys.rotate('a', old.record.id, { overlapMs: 1_000 })
  expect(rotated.record).toMatchObject({ ...properties, continues: old.record.id })
  expect(rotated.record).not.toHaveProperty('expiresAt')
  expect(rotated.replaced).toMatchObject({ id: old.record.id, expiresAt: Date.UTC(2030, 0, 1) + 1_000 })
  expect([await chat(rotated.key, 'small'), await chat(old.key, 'small'), await chat(rotated.key, 'small')]).toEqual([
    200, 429, 429,
  ])
  const served = { account: 'a', key: old.record.id, outcome: 'completed' } as const
  await expect.poll(async () => (await admin.usage.list(served)).items.length).toBe(2)
  pass(1_001)
  expect(await models(old.key)).toBe(401)
  expect(await models(rotated.key)).toEqual(['small'])
  const third = await admin.keys.rotate('a', rotated.record.id, { overlapMs: 0 })
  expect(third.record).toMatchObject({ continues: old.record.id })
  expect([await models(rotated.key), await models(third.key)]).toEqual([401, ['small']])
})

test('the overlap never extends the life of a key, and only a valid key is rotated', async () => {
  const { admin, pass } = await service()
  const expiresAt = Date.UTC(2030, 0, 1) + 500
  const { record } = await admin.keys.create({ account: 'a', group: 'default', expiresAt })
  expect((await admin.keys.rotate('a', record.id)).replaced.expiresAt).toBe(expiresAt)
  pass(500)
  await expect(admin.keys.rotate('a', record.id)).rejects.toMatchObject({ status: 409 })
  await expect(admin.keys.rotate('b', record.id)).rejects.toMatchObject({ status: 404 })
  await expect(admin.keys.rotate('a', record.id, { overlapMs: -1 })).rejects.toMatchObject({ status: 400 })
  expect(await admin.keys.list('a')).toHaveLength(2)
})

test.each([
  ['whose second step fails in the store', { update: 1 }],
  ['that is overtaken by other changes', { update: 5, overtaken: true }],
  ['that cannot be written to the audit log', { append: 2 }],
  ['half of which can be written to the audit log', { append: 1, after: 1 }],
] as const)('a rotation %s leaves the old key as it was, and no new one that is valid', async (_, fails) => {
  const { admin, failing } = await unsteady()
  const { record, key } = await admin.keys.create({ account: 'a', group: 'default' })
  failing(fails)
  const failure =
    'overtaken' in fails ? { status: 409 } : { status: 503, message: expect.stringContaining('Try again') }
  await expect(admin.keys.rotate('a', record.id)).rejects.toMatchObject(failure)
  const keys = await admin.keys.list('a')
  expect(keys.filter(({ revokedAt }) => revokedAt === undefined)).toEqual([record])
  expect(keys).toHaveLength(2)
  const again = await admin.keys.rotate('a', record.id)
  expect(again.record).not.toHaveProperty('expiresAt')
  expect(again.key).not.toBe(key)
})

test('a new key that cannot be written to the audit log is revoked, because nobody has got it', async () => {
  const { admin, failing } = await unsteady()
  failing({ append: 1 })
  await expect(admin.keys.create({ account: 'a', group: 'default' })).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining('Try again'),
  })
  expect(await admin.keys.inUse('a')).toMatchObject({ valid: 0, lastHour: 1 })
})

test('a new key of which the store does not say that it is stored is revoked if it is', async () => {
  const { admin, failing } = await unsteady()
  failing({ insert: 1 })
  await expect(admin.keys.create({ account: 'a', group: 'default' })).rejects.toMatchObject({ status: 503 })
  expect(await admin.keys.inUse('a')).toMatchObject({ valid: 0, lastHour: 1 })
})

/** Stores that fail a number of times. `after`: they work as often before. */
async function unsteady() {
  let left: { update?: number; append?: number; insert?: number; after?: number; overtaken?: boolean } = {}
  const isDown = (name: 'append' | 'insert' | 'update') => {
    if (left[name] === undefined || left[name] === 0) return false
    if (left.after !== undefined && left.after-- > 0) return false
    left[name]--
    return true
  }
  const [keys, audit] = [memoryKeyStore(), memoryAuditStore()]
  const storage = {
    keys: {
      ...keys,
      async insert(record: KeyRecord) {
        const isInserted = (await keys.insert?.(record)) ?? false
        if (isDown('insert')) throw new Error('no answer')
        return isInserted
      },
      async update(record: KeyRecord) {
        if (!isDown('update')) return (await keys.update?.(record)) ?? false
        if (left.overtaken === true) return false
        throw new Error('connection lost')
      },
    },
    audit: {
      ...audit,
      append(entry: AuditEntry) {
        if (isDown('append')) throw new Error('disk full')
        return audit.append(entry)
      },
    },
  }
  const { admin } = await service({ storage })
  return { admin, failing: (next: typeof left) => void (left = { ...next }) }
}
