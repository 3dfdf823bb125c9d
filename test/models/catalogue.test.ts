import { expect, test } from 'vitest'
import { Catalogue } from '../../src/models/catalogue.ts'
import type { RegistryModel } from '../../src/models/contract.ts'

const model: RegistryModel = {
  id: 'm',
  created: 0,
  ownedBy: 'v',
  deployments: [{ provider: { name: 'v' }, model: 'm', order: 0, weight: 1 }],
}

/** As query builders return it: it can be awaited, and is no `Promise`. */
const queryFor = (found: RegistryModel | undefined) => {
  const promise = Promise.resolve(found)
  // oxlint-disable-next-line unicorn/no-thenable -- What is tested.
  return { then: promise.then.bind(promise) } as Promise<RegistryModel | undefined>
}

test.each([
  ['at once', (found: RegistryModel | undefined) => found],
  ['with a promise', async (found: RegistryModel | undefined) => found],
  ['with a query', queryFor],
])('a registry may answer %s', async (_, answer) => {
  const find = async (found: RegistryModel | undefined) => {
    const catalogue = new Catalogue({ find: () => answer(found), list: () => [] }, { all: { models: '*' } })
    return (await catalogue.find('m', { account: 'a', group: 'all' })).id
  }
  expect(await find(model)).toBe('m')
  await expect(find(undefined)).rejects.toMatchObject({ status: 404, code: 'model_not_found' })
})
