/** Keys across accounts, keys for some models only, and rotation. */
import { expect, test } from 'vitest'
import { createGateway, type GatewayOptions } from '../../src/index.ts'
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
