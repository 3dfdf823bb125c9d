/** The page of an account: what expires, and what its ledger says. */
import type { Browser } from 'playwright-core'
import { createGateway } from 'modelhatch'
import { demo } from 'modelhatch/providers'
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

  async function opened() {
    const gateway = createGateway({
      models: { demo: { provider: demo(), price: { input: '2', output: '8' } } },
      billing: { currency: 'EUR' },
    })
    const served = await serveConsole('Express', gateway)
    onTestFinished(async () => {
      await served.close()
      await gateway.close({ graceMs: 0 })
    })
    return { accounts: gateway.admin.accounts, url: served.url }
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
})
