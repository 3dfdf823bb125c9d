/** The page of an account: what expires, and what its ledger says. */
import type { Browser } from 'playwright-core'
import { createGateway, type BillingExport } from 'modelhatch'
import { defineProvider, demo } from 'modelhatch/providers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { hasChromium, launch } from './browser.ts'
import { serveConsole } from './stage.ts'
import { violations, visit } from './visit.ts'

const dayMs = 86_400_000

describe.skipIf(!hasChromium)('the page of an account', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  async function opened(currency = 'EUR', sink?: BillingExport) {
    const failing = defineProvider({
      name: 'failing',
      async chat() {
        throw new Error('no answer')
      },
    })
    const price = { input: '2', output: '8' }
    const gateway = createGateway({
      models: { demo: { provider: demo(), price }, failing: { provider: failing, price } },
      keys: { 'sk-acme': { account: 'acme' } },
      groups: {
        default: { models: '*' },
        capped: { models: '*', caps: [{ name: 'monthly', period: 'month', money: '5' }] },
      },
      billing: { currency, ...(sink && { export: sink }) },
      usage: { record: true },
    })
    const served = await serveConsole('Express', gateway)
    onTestFinished(async () => {
      await served.close()
      await gateway.close({ graceMs: 0 })
    })
    const ask = (model: string) =>
      fetch(new URL('/ai/v1/chat/completions', served.url), {
        method: 'POST',
        headers: { authorization: 'Bearer sk-acme', 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
      })
    return { accounts: gateway.admin.accounts, keys: gateway.admin.keys, ask, url: served.url }
  }

  test('has the credits that expire, the soonest first, and what is left of the allowance', async () => {
    const { accounts, url } = await opened()
    await accounts.topUp({ account: 'acme', amount: '100', reference: 'for-good' })
    const { page, go, faults, end } = await visit(browser, url, 'acme')
    const card = page.locator('.card', { hasText: 'Credits that expire' })
    await go('#/accounts')
    expect(await card.count()).toBe(0)
    const expiring = (amount: string, reference: string, days: number) =>
      accounts.topUp({ account: 'acme', amount, reference, expiresAt: Date.now() + days * dayMs })
    await expiring('7.5', `gift-${'of-a-partner-'.repeat(8)}`, 400)
    await expiring('3', 'welcome', 0.4)
    await accounts.allow({ account: 'acme', amount: '20', reference: 'plan' })
    await go('#/overview')
    await go('#/accounts')
    const items = await card.locator('li').allInnerTexts()
    expect(items[0]).toMatch(/^welcome\s+€3\.00 left · expires in (?:9|10) hours$/)
    expect(items[1]).toMatch(/^Monthly allowance\s+€20\.00 \/ €20\.00 left · renewed in \d+ \w+$/)
    expect(items[2]).toMatch(/^gift-.*\s+€7\.50 left · expires in 13 months$/)
    expect(await card.locator('progress').getAttribute('aria-label')).toBe('Monthly allowance: €20.00 / €20.00')
    const [inner, outer] = [await card.locator('.clip').last().boundingBox(), await card.boundingBox()]
    expect((inner?.x ?? 0) + (inner?.width ?? 0)).toBeLessThan((outer?.x ?? 0) + (outer?.width ?? 0))
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await violations(page)).toEqual([])
    }
    expect(faults).toEqual([])
    await end()
  })

  test('has the caps of all its keys, however many newer ones there are', async () => {
    const { keys, url } = await opened()
    await keys.create({ account: 'acme', open: true, group: 'capped' })
    for (let count = 0; count < 100; count++) await keys.create({ account: 'acme', group: 'default' })
    const { page, go, end } = await visit(browser, url, 'acme')
    await go('#/accounts')
    await page.locator('.caps').getByText('monthly').waitFor()
    await end()
  })

  test('lists what changed the balance: no holds of calls that failed', async () => {
    const { accounts, ask, url } = await opened()
    await accounts.topUp({ account: 'acme', amount: '10', reference: 'order' })
    // More than a page of them.
    for (let calls = 0; calls < 52; calls++) await ask('failing')
    const released = async () => (await accounts.entries('acme')).items.filter(({ kind }) => kind === 'release').length
    await expect.poll(released).toBe(52)
    const { page, go, end } = await visit(browser, url, 'acme')
    await go('#/accounts')
    const rows = page.getByRole('table', { name: 'Ledger entries' }).locator('tbody tr')
    await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringMatching(/order.*€10\.00/s)])
    await end()
  })

  test('is exported; the page of models and stores says when, and what waits', async () => {
    let isDown = true
    const send = () => {
      if (isDown) throw new Error('not now')
    }
    const { accounts, url } = await opened('EUR', { since: 0, send })
    await accounts.topUp({ account: 'acme', amount: '10', reference: 'order' })
    const { page, go, end } = await visit(browser, url, 'admin')
    const line = page.locator('.health > p')
    const said = async () => {
      await go('#/overview')
      await go('#/models')
      return line.innerText()
    }
    await expect.poll(said, { timeout: 30_000 }).toMatch(/Export of charges last refused .* · 1 accounts wait/)
    expect(await violations(page)).toEqual([])
    isDown = false
    await expect.poll(said, { timeout: 30_000 }).toMatch(/Export of charges last sent [^·]* · last refused [^·]*$/)
    await end()
  })

  test('shows the digits that a currency has', async () => {
    const { accounts, url } = await opened('JPY')
    await accounts.topUp({ account: 'acme', amount: '1600', reference: 'whole' })
    await accounts.adjust({ account: 'acme', amount: '-0.25', reference: 'a-part' })
    const { page, go, end } = await visit(browser, url, 'acme')
    await go('#/accounts')
    expect(await page.locator('.figure').first().innerText()).toBe('¥1,599.75')
    const amounts = await page
      .getByRole('table', { name: 'Ledger entries' })
      .locator('tbody td:last-child')
      .allInnerTexts()
    expect(amounts.map((amount) => amount.replace(/0*$/, ''))).toEqual(['-¥0.25', '¥1,6'])
    await end()
  })
})
