/** How an operator finds one thing among many. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { sqlite } from 'modelhatch/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, launch } from './browser.ts'
import { openStage, serveConsole, type Served, type Stage } from './stage.ts'
import { settled, violations, visit, type Visit } from './visit.ts'

describe.skipIf(!hasChromium)('an operator', () => {
  let browser: Browser
  let folder: string
  let stage: Stage
  let served: Served
  let admin: Visit
  let page: Page
  beforeAll(async () => {
    browser = await launch()
    folder = mkdtempSync(join(tmpdir(), 'console-'))
    stage = await openStage(sqlite(join(folder, 'gateway.db')), 60)
    for (let nth = 0; nth < 130; nth++) {
      await stage.gateway.admin.accounts.open({ id: `cust-${String(nth).padStart(3, '0')}` })
    }
    served = await serveConsole('Express', stage.gateway)
    admin = await visit(browser, served.url, 'admin')
    page = admin.page
  })
  afterAll(async () => {
    await browser?.close()
    await served?.close()
    await stage?.gateway.close({ graceMs: 0 })
    rmSync(folder, { recursive: true, force: true })
  })

  const names = () => page.locator('tbody th').allInnerTexts()

  test('finds accounts by the beginning of their ids, which is in the address', async () => {
    await admin.go('#/accounts')
    await page.getByLabel('Id begins with').fill('cust-12')
    await expect.poll(() => page.url()).toContain('prefix=cust-12')
    await expect.poll(names).toEqual(Array.from({ length: 10 }, (_, nth) => `cust-12${nth}`))
    const offered = await page
      .locator('datalist option')
      .evaluateAll((all) => all.map((each) => each.getAttribute('value')))
    expect(offered).toEqual(Array.from({ length: 8 }, (_, nth) => `cust-12${nth}`))
    await page.getByLabel('Id begins with').fill('nobody')
    await page.getByText('No account begins with "nobody"').waitFor()
  })

  test('comes back to the rows and the place that were left', async () => {
    await admin.go('#/accounts')
    await page.getByRole('button', { name: 'Load more' }).click()
    await expect.poll(async () => (await names()).length).toBe(100)
    const row = page.getByRole('link', { name: 'cust-090' })
    await row.scrollIntoViewIfNeeded()
    const left = await page.evaluate(() => scrollY)
    expect(left).toBeGreaterThan(1_000)
    await expect.poll(() => page.evaluate(() => history.state as unknown)).toMatchObject({ rows: 100, scroll: left })
    await row.click()
    await page.getByRole('heading', { name: 'cust-090' }).waitFor()
    expect(await page.title()).toMatch(/^cust-090 · Accounts · /)
    await page.goBack()
    await expect.poll(async () => (await names()).length).toBe(100)
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(left)
    await page.getByRole('link', { name: 'Models' }).click()
    await page.getByRole('heading', { name: 'Models', exact: true }).waitFor()
    expect(await page.evaluate(() => scrollY)).toBe(0)
  })

  test('comes back to them although the page before reports its own rows and place late', async () => {
    await admin.go('#/accounts')
    await page.getByRole('button', { name: 'Load more' }).click()
    await page.getByRole('link', { name: 'cust-090' }).scrollIntoViewIfNeeded()
    const left = await page.evaluate(() => scrollY)
    const state = () => page.evaluate(() => history.state as unknown)
    await expect.poll(state).toMatchObject({ rows: 100, scroll: left })
    await page.getByRole('link', { name: 'cust-090' }).click()
    await expect.poll(state).toMatchObject({ rows: expect.any(Number) as number })
    // The address is that of the list already, and the page of the account is still shown.
    await page.evaluate(() => addEventListener('popstate', () => dispatchEvent(new Event('scrollend')), { once: true }))
    await page.goBack()
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(left)
    expect(await state()).toMatchObject({ rows: 100, scroll: left })
  })

  test('goes to a page, an account and a request from the keyboard', async () => {
    await admin.go('#/overview')
    const input = page.getByRole('combobox', { name: 'Page, account or request id' })
    await page.keyboard.press('Control+k')
    expect(await violations(page)).toEqual([])
    await input.fill('aud')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Audit log' }).waitFor()

    await page.keyboard.press('Control+k')
    await input.fill('cust-07')
    await page.getByRole('option', { name: 'cust-079' }).waitFor({ state: 'detached' })
    await page.getByRole('option', { name: 'Account cust-071' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'cust-071' }).waitFor()

    const id = stage.requests.acme.at(-1) ?? ''
    await page.keyboard.press('Control+k')
    await input.fill(id)
    await page.getByRole('option', { name: `Request ${id}` }).click()
    await page.getByText(id).first().waitFor()
    await page.keyboard.press('Control+k')
    await input.waitFor()
    await page.keyboard.press('Escape')
    await input.waitFor({ state: 'detached' })
  })

  test('reaches the search of a page with the slash', async () => {
    await admin.go('#/accounts')
    await page.keyboard.press('/')
    await page.keyboard.type('glo/')
    expect(await page.getByLabel('Id begins with').inputValue()).toBe('glo/')
  })

  test('sees requests as they come, but not while reading further down', async () => {
    const other = await visit(browser, served.url, 'admin')
    await other.page.clock.install()
    await other.go('#/requests?range=30d')
    await other.page.getByRole('button', { name: 'Live' }).click()
    const rows = other.page.locator('tbody tr')
    const before = await rows.first().innerText()
    const answer = await fetch(new URL('/ai/v1/chat/completions', served.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.keys.acme}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'steady', messages: [{ role: 'user', content: 'Hi' }] }),
    })
    await answer.text()
    const seen = async () => {
      await other.page.clock.runFor(2_000)
      return rows.first().innerText()
    }
    await expect.poll(seen).not.toBe(before)
    await settled(other.page)
    let asked = 0
    other.page.on('request', (request) => void (request.url().includes('api/requests?') && asked++))
    await other.page.evaluate(() => scrollTo(0, 600))
    await other.page.clock.runFor(20_000)
    expect(asked).toBe(0)
    await other.page.evaluate(() => scrollTo(0, 0))
    await other.page.clock.runFor(2_000)
    await expect.poll(() => asked).toBe(1)
    expect(other.faults).toEqual([])
    await other.end()
  })

  test('nothing of all this has violated the policy or thrown', () => {
    expect(admin.faults).toEqual([])
  })
})
