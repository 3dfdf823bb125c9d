/** A field of a key is declared once: here is what follows from the declaration, for each field. */
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { keyFields, keyNames, type KeyProperties } from '../../src/callers/key-fields.ts'
import { served } from './api/served.ts'

/** A value of each field, and one that its rule refuses. */
const samples: { readonly [Name in keyof Required<KeyProperties>]: readonly [KeyProperties[Name], unknown] } = {
  name: ['Ada’s laptop', 'x'.repeat(513)],
  note: ['For the batch at night', 'x'.repeat(501)],
  user: ['ada', ''],
  tags: [['team:search'], ['a', 'a']],
  models: [['m*'], 'm'],
  addresses: [['10.0.0.0/8'], ['10.0.0.1/8']],
  expiresAt: [4_000_000_000_000, 4_000_000_000],
  rate: [{ requests: '60/min' }, { requests: 'often' }],
  caps: [[{ name: 'c', period: 'day', calls: 5 }], [{ name: 'c', period: 'year' }]],
}
const account = 'acme'
const own = { account, open: true, group: 'default' }

const messageOf = async (act: Promise<unknown>) =>
  act.then(
    () => 'accepted',
    (error: Error) => error.message,
  )

test.each(keyNames)('%s', async (name) => {
  const [value, wrong] = samples[name]
  const { searched, personal, exported } = keyFields[name]
  const { ask, gateway } = await served()
  const { keys, csv } = gateway.admin

  const { record } = await keys.create({ ...own, [name]: value })
  expect(record).toMatchObject({ [name]: value })
  expect((await ask('admin', `/accounts/${account}/keys/${record.id}`)).json).toMatchObject({ [name]: value })
  expect((await keys.rotate(account, record.id)).record).toMatchObject({ [name]: value })
  expect(await keys.update(account, record.id, { [name]: null })).not.toHaveProperty(name)
  expect(await keys.update(account, record.id, { [name]: value })).toMatchObject({ [name]: value })

  const said = await messageOf(keys.create({ ...own, [name]: wrong }))
  expect(said).toContain(`"${name}`)
  expect(await messageOf(keys.update(account, record.id, { [name]: wrong }))).toBe(said)
  const body = { group: 'default', [name]: wrong }
  const refused = await ask('admin', `/accounts/${account}/keys`, { method: 'POST', body })
  expect([refused.status, refused.json.error.message]).toEqual([400, said])

  const { components } = (await ask('admin', '/openapi.json')).json
  for (const schema of ['Key', 'NewKey', 'KeyChange'])
    expect(Object.keys(components.schemas[schema].properties[name])).not.toEqual([])
  const [head] = (await text(csv.keys())).split('\r\n')
  expect(head?.split(',').includes(name)).toBe(exported !== undefined)

  const found = await keys.search({ text: String(Array.isArray(value) ? value[0] : value).toUpperCase() })
  expect(found.items.some(({ id }) => id === record.id)).toBe(searched === true)
  await gateway.admin.erase(account)
  const [erased] = (await keys.list(account)).filter(({ id }) => id === record.id)
  expect(erased?.revokedAt).toBeTypeOf('number')
  expect(Object.hasOwn(erased ?? {}, name)).toBe(personal !== true)
})
