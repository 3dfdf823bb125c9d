/** Keys that cannot be used, and keys that cannot be changed, with every storage. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { createGateway, memoryUsageStore, type StorageBundle } from '../../src/index.ts'
import { demo } from '../../src/providers/index.ts'
import { everyBundle } from '../every-bundle.ts'
import { hosted } from '../hosted.ts'
import { storeTimeouts } from '../patience.ts'

const storages: [string, boolean, () => Promise<StorageBundle> | StorageBundle][] = [
  ['Memory', true, () => ({ usage: memoryUsageStore() })],
  ...everyBundle().map(([kind, there, open]): [string, boolean, () => Promise<StorageBundle>] => [kind, there, open]),
]

describe.each(storages)('%s', (_, there, open) => {
  const served = async (billing?: { currency: string }) => {
    const gateway = createGateway({
      models: { m: { provider: demo({ paceMs: 0 }), price: { input: '1', output: '1' } } },
      keys: { 'sk-in-options': { account: 'house', name: 'deployed' } },
      storage: await open(),
      timeouts: storeTimeouts,
      ...(billing && { billing }),
    })
    onTestFinished(() => gateway.close({ graceMs: 0 }))
    const url = await hosted(gateway)
    const status = async (key: string) =>
      (await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status
    const { accounts, keys } = gateway.admin
    return { accounts, keys, erase: (account: string) => gateway.admin.erase(account), status }
  }

  test.skipIf(!there)('a key of an account that does not exist is refused, unless it is to be opened', async () => {
    const { keys, accounts, status } = await served({ currency: 'EUR' })
    const account = `typo-${crypto.randomUUID()}`
    const create = (change = {}) => keys.create({ account, group: 'default', ...change })
    for (const change of [{}, { open: false }]) {
      await expect(create(change)).rejects.toMatchObject({
        status: 404,
        param: 'account',
        message: expect.stringContaining('"open" to true') as string,
      })
    }
    await expect(create({ open: 'yes' })).rejects.toMatchObject({ status: 400, param: 'open' })
    await expect(create({ open: true, group: 'none' })).rejects.toMatchObject({ status: 400 })
    expect(await keys.list(account)).toEqual([])
    expect(await accounts.find(account)).toBeUndefined()
    const { key, record } = await create({ open: true })
    expect(record).not.toHaveProperty('open')
    expect(await status(key)).toBe(200)
    expect(await accounts.find(account)).toMatchObject({ balance: '0', unlimited: false })
    await accounts.topUp({ account, amount: '5', reference: account })
    await create({ open: true })
    expect(await accounts.find(account)).toMatchObject({ balance: '5' })
    expect((await create()).record.account).toBe(account)
  })

  test.skipIf(!there)('without billing there are no accounts, and keys need none', async () => {
    const { keys } = await served()
    const account = `any-${crypto.randomUUID()}`
    expect((await keys.create({ account, group: 'default' })).record.account).toBe(account)
    expect((await keys.create({ account, group: 'default', open: true })).record.account).toBe(account)
  })

  test.skipIf(!there)('a key of the options is marked, and cannot be changed but there', async () => {
    const { keys, erase, status } = await served()
    const [record, ...others] = await keys.list('house')
    expect([record?.source, others]).toEqual(['options', []])
    expect((await keys.search({ text: 'deployed' })).items).toEqual([record])
    const id = record?.id ?? ''
    for (const change of [
      () => keys.revoke('house', id),
      () => keys.update('house', id, { name: 'other' }),
      () => keys.rotate('house', id),
    ]) {
      const message = expect.stringContaining('"keys" of createGateway') as string
      await expect(change()).rejects.toMatchObject({ status: 409, shouldRetry: false, message })
    }
    expect(await keys.list('house')).toEqual([record])
    expect(await erase('house')).toMatchObject({ keys: 0, left: [{ kind: 'keys' }] })
    expect(await status('sk-in-options')).toBe(200)
    const made = await keys.create({ account: 'house', group: 'default' })
    expect(made.record).not.toHaveProperty('source')
    expect(await keys.revoke('house', made.record.id)).toMatchObject({ revokedAt: expect.any(Number) as number })
  })
})
