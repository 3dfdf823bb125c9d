/** The page of a vendor's bill. */
import type { Browser } from 'playwright-core'
import { createGateway, csvReport, memoryUsageStore } from 'modelhatch'
import { openai } from 'modelhatch/providers'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { usageRecord } from '../../observe/usage/record.ts'
import { hasChromium, launch } from './browser.ts'
import { serveConsole } from './stage.ts'
import { violations, visit } from './visit.ts'

const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)

describe.skipIf(!hasChromium)('the bill of a vendor', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  async function opened() {
    const usage = memoryUsageStore()
    const base = {
      account: 'acme',
      model: 'gpt-5',
      provider: 'openai',
      providerModel: 'gpt-5',
      promptTokens: 1_000_000,
    }
    const startedAt = Date.parse(`${day(4)}T12:00:00Z`)
    await usage.append([
      usageRecord({ ...base, id: 'req_1', startedAt, completionTokens: 0, vendorCost: 1_250_000_000n }),
    ])
    const bill = `day,model,requests,input_tokens,cached_tokens,output_tokens,cost
${day(4)},gpt-5,1,1000000,0,0,1.25
${day(3)},gpt-5,1,2000000,0,0,2.5`
    const asked: { from: number; to: number }[] = []
    let isDown = false
    const gateway = createGateway({
      models: { 'gpt-5': { provider: openai({ apiKey: 'sk' }), cost: { input: '1.25', output: '10' } } },
      storage: { usage },
      reports: {
        openai(period) {
          asked.push(period)
          return isDown ? Promise.reject(new Error('a secret')) : csvReport(bill)(period)
        },
      },
    })
    const served = await serveConsole('Express', gateway)
    onTestFinished(async () => {
      await served.close()
      await gateway.close({ graceMs: 0 })
    })
    return { url: served.url, asked, down: () => void (isDown = true) }
  }

  test('is read at a click, and stands beside the books with the causes of each day', async () => {
    const { url, asked, down } = await opened()
    const { page, go, faults, end } = await visit(browser, url, 'admin')
    await go('#/reconcile')
    expect(asked).toEqual([])
    expect(await page.getByLabel('Vendor').inputValue()).toBe('openai')
    await page.getByRole('button', { name: 'Compare' }).click()
    const rows = page.getByRole('table', { name: 'Reconcile' }).locator('tbody tr')
    await rows.first().waitFor()
    expect(asked).toEqual([{ from: Date.parse(day(8)), to: Date.parse(day(1)) }])
    const texts = (await rows.allInnerTexts()).map((text) => text.replaceAll(/0{4,}/g, '').replaceAll(/\s+/g, ' '))
    expect(texts).toEqual([
      `${day(4)} gpt-5 1.25 1.25 0.00 0.00`,
      `${day(3)} gpt-5 0.00 2.50 2.50 Other traffic 2.50 0.00`,
    ])
    const tiles = await page.locator('.tile').allInnerTexts()
    expect(tiles.map((text) => text.split(/\n+/))).toEqual([
      ['Books', '1.25'],
      ['Bill', '3.75'],
      ['Difference', '2.50', 'Other traffic 2.50'],
      ['Unexplained', '0.00', '0% of the bill'],
    ])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await violations(page)).toEqual([])
    }
    expect(faults).toEqual([])
    down()
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByRole('alert').getByText('The bill of "openai" could not be read').waitFor()
    expect(await page.locator('body').innerText()).not.toContain('a secret')
    await page.getByLabel('Last day').fill(day(20))
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByRole('alert').getByText('"to" must be later than "from".').waitFor()
    await end()
  })

  test('is not for customers', async () => {
    const { url } = await opened()
    const { page, go, end } = await visit(browser, url, 'acme')
    await go('#/overview')
    expect(await page.getByRole('link', { name: 'Reconcile' }).count()).toBe(0)
    await end()
  })
})
