/** Export and deletion of what is stored about a person. */
import { expect, test } from 'vitest'
import { createGateway, memoryUsageStore, type PersonalItem } from '../../src/index.ts'
import { demo } from '../../src/providers/index.ts'
import { plainUsageStore, usageRecord } from '../observe/usage/record.ts'

function service() {
  const usage = memoryUsageStore()
  const gateway = createGateway({
    models: { m: { provider: demo(), price: { input: '1', output: '1' } } },
    billing: { currency: 'EUR' },
    storage: { usage },
  })
  return { usage, admin: gateway.admin }
}

async function filled() {
  const { usage, admin } = service()
  for (const account of ['ada', 'bob']) {
    await admin.accounts.open({ id: account, name: `${account} of Turing Street` })
    await admin.accounts.topUp({ account, amount: '5', reference: `order-${account}` })
    await admin.keys.create({ account, group: 'default', name: `${account}'s laptop`, user: account, tags: ['home'] })
    const personal = { account, key: 'k', user: account, session: 's', tags: ['home'] }
    await usage.append(
      [1, 2].map((at) => usageRecord({ id: `${account} ${at}`, startedAt: at, cost: 5n, ...personal })),
    )
  }
  return { usage, admin }
}

async function itemsOf(exported: AsyncIterable<PersonalItem>): Promise<PersonalItem[]> {
  const items: PersonalItem[] = []
  for await (const item of exported) items.push(item)
  return items
}

test('an export has the account, its keys, entries and usage, and nothing of others', async () => {
  const { admin } = await filled()
  const items = await itemsOf(admin.export('ada'))
  expect(items.map(({ kind }) => kind)).toEqual(['account', 'key', 'entry', 'usage', 'usage'])
  expect(JSON.stringify(items)).not.toMatch(/bob|hash/)
  expect(JSON.parse(JSON.stringify(items[3]))).toMatchObject({ item: { id: 'ada 2', user: 'ada', cost: '0.000005' } })
  await expect(admin.export('').next()).rejects.toMatchObject({ status: 400 })
})

test('after an account was erased, only its books name it, and its usage counts for nobody', async () => {
  const { admin } = await filled()
  const before = await admin.usage.statistics({ all: true, by: [] })
  const erased = await admin.erase('ada')
  expect(erased).toMatchObject({ keys: 1, balance: '5' })
  const items = await itemsOf(admin.export('ada'))
  expect(items.map(({ kind }) => kind)).toEqual(['account', 'key', 'entry'])
  expect(JSON.stringify(items)).not.toMatch(/Turing|laptop|home|"user"/)
  expect((await admin.keys.list('ada'))[0]?.revokedAt).toBeDefined()
  const { items: records } = await admin.usage.list({ account: erased.usageAs ?? '' })
  expect(records.map(({ id }) => id)).toEqual(['ada 2', 'ada 1'])
  for (const record of records)
    for (const field of ['key', 'user', 'session', 'tags']) expect(record).not.toHaveProperty(field)
  expect(await admin.usage.statistics({ all: true, by: [] })).toEqual(before)
  expect((await admin.accounts.audit()).faults).toEqual([])
  expect((await admin.usage.list({ account: 'bob' })).items).toMatchObject([{ user: 'bob' }, { user: 'bob' }])
  // Again, for requests that were in progress.
  expect(await admin.erase('ada')).toMatchObject({ keys: 1, balance: '5' })
})

test('one user of an account is erased', async () => {
  const { usage, admin } = await filled()
  await admin.keys.create({ account: 'bob', group: 'default', user: 'eve' })
  await usage.append([usageRecord({ id: 'eve 1', account: 'bob', user: 'eve', session: 's', startedAt: 3 })])
  await admin.eraseUser('bob', 'eve')
  expect((await admin.keys.list('bob')).map(({ user, revokedAt }) => [user, revokedAt === undefined])).toEqual(
    expect.arrayContaining([
      [undefined, false],
      ['bob', true],
    ]),
  )
  const { items } = await admin.usage.list({ account: 'bob' })
  expect(items.map(({ id, user, session }) => [id, user, session])).toEqual([
    ['eve 1', undefined, undefined],
    ['bob 2', 'bob', 's'],
    ['bob 1', 'bob', 's'],
  ])
})

test('an account is not half erased if the usage store cannot anonymise', async () => {
  const gateway = createGateway({ models: { m: demo() }, storage: { usage: plainUsageStore() } })
  const { key, record } = await gateway.admin.keys.create({ account: 'ada', group: 'default', name: 'laptop' })
  expect(key).toBeDefined()
  await expect(gateway.admin.erase('ada')).rejects.toMatchObject({ status: 400 })
  expect(await gateway.admin.keys.list('ada')).toEqual([record])
})
