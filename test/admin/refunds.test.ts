/** A refund in another process than the one that has served the request. */
import { describe, expect, test } from 'vitest'
import { memoryUsageStore } from '../../src/index.ts'
import { scene, whole } from '../admission/scene.ts'
import { everyBundle } from '../every-bundle.ts'
import { askChat } from '../hosted.ts'

describe.each(everyBundle())('%s', (_, available, open) => {
  test.skipIf(!available).each([
    ['its usage records', false],
    ['usage records in the memory of each process', true],
  ])('with %s, any process refunds a request, once', async (__, isAlone) => {
    const gateway = async () => {
      const storage = await open()
      const usage = isAlone ? { usage: memoryUsageStore() } : {}
      return scene(whole, { billing: { currency: 'CNY' }, storage: { ...storage, ...usage } })
    }
    const [here, there] = [await gateway(), await gateway()]
    const { accounts } = there.gateway.admin
    await accounts.topUp({ account: 'acme', amount: '1', reference: `start-${isAlone}` })
    const start = { balance: (await accounts.find('acme'))?.balance, held: '0' }
    const response = await askChat(here.url)
    await response.body?.cancel()
    const request = response.headers.get('x-request-id') as string
    const refund = (account: string, amount?: string) =>
      accounts.refund({ account, request, reason: 'blurred', ...(amount !== undefined && { amount }) })
    await expect.poll(async () => refund('acme', '9').catch(({ status }: { status: number }) => status)).toBe(400)
    await expect(refund('other')).rejects.toMatchObject({ status: 404 })
    expect(await refund('acme')).toMatchObject({ repeated: false })
    expect(await here.gateway.admin.accounts.refund({ account: 'acme', request, reason: 'again' })).toMatchObject({
      repeated: true,
    })
    expect(await accounts.find('acme')).toMatchObject(start)
    await expect(accounts.refund({ account: 'acme', request: 'req_none', reason: 'x' })).rejects.toMatchObject({
      status: 404,
    })
  })
})
