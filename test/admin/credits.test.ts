/** Credits that expire and allowances, from the payment to the call that they pay. */
import { describe, expect, test } from 'vitest'
import { scene, whole } from '../admission/scene.ts'
import { formatMoney, parseMoney } from '../../src/money/money.ts'
import { everyBundle } from '../every-bundle.ts'
import { askChat } from '../hosted.ts'

const dayMs = 86_400_000

describe.each(everyBundle())('%s', (_, available, open) => {
  const opened = async (account: string) => {
    let now = Date.parse('2026-11-30T12:00:00Z')
    const clock = () => now
    const keys = { 'sk-test': { account } }
    const made = await scene(whole, { keys, clock, billing: { currency: 'EUR' }, storage: await open() })
    return { ...made, accounts: made.gateway.admin.accounts, pass: (ms: number) => void (now += ms) }
  }

  test.skipIf(!available)('what expires first is used first, and what is left is taken back', async () => {
    const { url, receipt, accounts, pass } = await opened('acme')
    const pay = (amount: string, reference: string, days?: number) =>
      accounts.topUp({
        account: 'acme',
        amount,
        reference,
        ...(days !== undefined && { expiresAt: Date.parse('2026-11-30T12:00:00Z') + days * dayMs }),
      })
    await pay('1', 'for-good')
    await pay('1', 'ten-days', 10)
    expect(await pay('2', 'two-days', 2)).toEqual({ balance: '4', repeated: false })
    expect(await pay('2', 'two-days', 2)).toEqual({ balance: '4', repeated: true })
    await expect(pay('3', 'two-days', 2)).rejects.toMatchObject({ status: 409 })
    await expect(pay('3', 'past', -1)).rejects.toMatchObject({ status: 400 })
    expect((await askChat(url)).status).toBe(200)
    await receipt()
    const left = async () => (await accounts.credits('acme')).map(({ reference, left: of }) => [reference, of])
    await expect.poll(left).toEqual([
      ['two-days', '1.99997'],
      ['ten-days', '1'],
    ])
    pass(3 * dayMs)
    // A charge looks for what has expired.
    expect((await askChat(url)).status).toBe(200)
    await receipt()
    const expired = async () => {
      const { items } = await accounts.entries('acme')
      const amounts = items
        .filter(({ reference }) => reference.startsWith('expiry:two-days:'))
        .map(({ amount }) => amount)
      return formatMoney(amounts.reduce((sum, amount) => sum + parseMoney(amount), 0n))
    }
    // The charge may come before it, after it, or between its parts: what the call holds is taken when the call returns it.
    await expect.poll(async () => (await left()).length).toBe(1)
    await expect.poll(expired).toMatch(/^-1\.9999[47]$/)
    await expect.poll(async () => (await accounts.find('acme'))?.balance).toMatch(/^(2|1\.99997)$/)
    expect(await left()).toEqual([['ten-days', (await expired()) === '-1.99997' ? '0.99997' : '1']])
    expect((await accounts.audit()).faults).toEqual([])
  })

  test.skipIf(!available)('an allowance pays the first call of its month, and lapses at its end', async () => {
    const { url, receipt, accounts, pass } = await opened('plan')
    const plan = { account: 'monthly', amount: '0.02', reference: 'plan' }
    const [first] = await accounts.allow(plan)
    expect(first).toMatchObject({ left: '0.02', expiresAt: Date.parse('2026-12-01T00:00:00Z') })
    await accounts.allow({ ...plan, account: 'plan' })
    const statuses: number[] = []
    for (let count = 0; count < 3; count++) {
      const { status } = await askChat(url)
      statuses.push(status)
      if (status === 200) await receipt()
    }
    expect(statuses).toEqual([200, 200, 200])
    await expect.poll(async () => (await accounts.find('plan'))?.held).toBe('0')
    await accounts.adjust({ account: 'plan', amount: `-${(await accounts.find('plan'))?.balance}`, reference: 'empty' })
    expect((await askChat(url)).status).toBe(429)
    pass(6_000)
    expect((await askChat(url)).status).toBe(429)
    pass(12 * 3_600_000)
    expect((await askChat(url)).status).toBe(200)
    await receipt()
    expect((await accounts.credits('monthly')).map(({ left, expiresAt }) => [left, expiresAt])).toEqual([
      ['0.02', Date.parse('2027-01-01T00:00:00Z')],
    ])
    expect((await accounts.find('monthly'))?.balance).toBe('0.02')
    await accounts.allow({ ...plan, account: 'monthly', amount: '0' })
    pass(40 * dayMs)
    expect(await accounts.credits('monthly')).toEqual([])
    expect((await accounts.find('monthly'))?.balance).toBe('0')
  })
})
