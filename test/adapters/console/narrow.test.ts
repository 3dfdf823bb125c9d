/** Long names and small screens: nothing is pushed out of sight, and everything can be hit with a finger. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { sqlite } from 'modelhatch/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, launch } from './browser.ts'
import { openStage, serveConsole, type Served, type Stage } from './stage.ts'
import { violations, visit } from './visit.ts'

const long = 'the-key-of-the-department-that-writes-letters-to-customers-in-all-countries-of-the-union-and-beyond'

describe.skipIf(!hasChromium)('long names and small screens', () => {
  let browser: Browser
  let folder: string
  let stage: Stage
  let served: Served
  beforeAll(async () => {
    browser = await launch()
    folder = mkdtempSync(join(tmpdir(), 'console-'))
    stage = await openStage(sqlite(join(folder, 'gateway.db')), 40)
    await stage.gateway.admin.accounts.open({ id: long })
    await stage.gateway.admin.keys.create({ account: long, group: 'standard', name: long, user: 'ada' })
    served = await serveConsole('Express', stage.gateway)
  })
  afterAll(async () => {
    await browser?.close()
    await served?.close()
    await stage?.gateway.close({ graceMs: 0 })
    rmSync(folder, { recursive: true, force: true })
  })

  /** What can be clicked and is lower or narrower than 24 pixels. Links in a sentence may be. */
  const smallTargets = (page: Page) =>
    page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('a, button, input, select, textarea, summary')]
        .map((target) => ({ target, box: target.getBoundingClientRect() }))
        .filter(({ box: { width, height } }) => width > 0 && (width < 24 || height < 24))
        .filter(({ target }) => target.closest('p') === null && target.getAttribute('type') !== 'checkbox')
        .map(({ target, box }) => `${target.outerHTML.slice(0, 90)} ${box.width}×${box.height}`),
    )

  test('the actions of a key stay on a screen of 1,440 pixels', async () => {
    const { page, go, end } = await visit(browser, served.url, 'admin', { viewport: { width: 1_440, height: 900 } })
    await go('#/keys')
    const { x = 0, width = 0 } = (await page.getByRole('button', { name: `Revoke: ${long}` }).boundingBox()) ?? {}
    expect(x + width).toBeLessThan(1_440)
    const name = page.getByRole('link', { name: long })
    expect(await name.getAttribute('title')).toBe(long)
    expect(await page.locator('.scroll').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0)
    await end()
  })

  test('on a phone each row is a card with all its values', async () => {
    const { page, go, end } = await visit(browser, served.url, 'admin', { viewport: { width: 390, height: 844 } })
    for (const address of ['#/keys', '#/requests?range=30d', '#/accounts', '#/models', '#/usage?by=key', '#/audit']) {
      await go(address)
      expect(await page.evaluate(() => document.documentElement.scrollWidth), address).toBeLessThanOrEqual(390)
      for (const box of await page.locator('.cards').all())
        expect(await box.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth), address).toBe(0)
    }
    await go('#/keys')
    const card = page.getByRole('row').filter({ hasText: long })
    for (const value of ['Active', 'standard', 'Never']) expect(await card.getByText(value).isVisible()).toBe(true)
    const { x = 0, width = 0 } = (await card.getByRole('button', { name: 'Revoke' }).boundingBox()) ?? {}
    expect(x + width).toBeLessThan(390)
    expect(await violations(page)).toEqual([])
    await end()
  })

  test.each([1_440, 390])('targets have 24 pixels at least: %d', async (width) => {
    const { page, go, end } = await visit(browser, served.url, 'admin', { viewport: { width, height: 900 } })
    const addresses = [
      '#/overview?range=30d',
      '#/usage?by=model',
      '#/requests?range=30d',
      `#/requests/${stage.requests.acme[3]}`,
      '#/keys',
      '#/accounts',
      '#/accounts/acme',
      '#/invoices?account=acme',
      '#/models',
      '#/registry',
      '#/audit',
      '#/playground',
      '#/setup',
    ]
    const small: string[] = []
    for (const address of addresses) {
      await go(address)
      small.push(...(await smallTargets(page)).map((each) => `${address} ${each}`))
    }
    expect(small).toEqual([])
    await end()
  })

  test('a table that loads anew is as readable as before', async () => {
    const { page, go, end } = await visit(browser, served.url, 'admin')
    await go('#/keys')
    const { promise: asked, resolve: reached } = Promise.withResolvers<void>()
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    await page.route(/api\/keys\?/, async (route) => {
      reached()
      await answered
      await route.continue()
    })
    await page.getByLabel('State').selectOption('all')
    await asked
    await page.locator('.table[aria-busy=true]').waitFor()
    expect(await violations(page)).toEqual([])
    answer()
    await page.locator('.table[aria-busy=false]').waitFor()
    await end()
  })
})
