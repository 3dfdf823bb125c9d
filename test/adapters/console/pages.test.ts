/** Each page in a real browser: content, accessibility, themes, languages, keyboard. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { sqlite } from 'modelhatch/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, launch } from './browser.ts'
import { assetsOf } from '../../../adapters/console/assets.ts'
import { Site } from '../../../adapters/console/site.ts'
import { pageFiles } from '../../../.build/page.ts'
import { authorize, openStage, serveConsole, serveSite, type Served, type Stage } from './stage.ts'
import { settled, violations, visit } from './visit.ts'

describe.skipIf(!hasChromium)('the pages', () => {
  let folder: string
  let browser: Browser
  let stage: Stage
  let served: Served
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'console-'))
    stage = await openStage(sqlite(join(folder, 'gateway.db')), 150)
    served = await serveConsole('Express', stage.gateway)
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await served?.close()
    await stage?.gateway.close({ graceMs: 0 })
    rmSync(folder, { recursive: true, force: true })
  })

  test.each([
    ['admin', 1],
    ['acme', 0],
  ])('the overview shows %s likely mistakes in the options: %d', async (who, count) => {
    const { page, go, end } = await visit(browser, served.url, who)
    await go('#/overview?range=30d')
    expect(stage.gateway.warnings()).toHaveLength(1)
    const shown = page.locator('.notice.warn li', { hasText: 'the thresholds of the cap "daily" are percentages' })
    expect(await shown.count()).toBe(count)
    await end()
  })

  test('the operator sees revenue, cost and margin by vendor, a customer neither', async () => {
    const titles = async (who: string, by: string) => {
      const { page, go, end } = await visit(browser, served.url, who)
      await go(`#/usage?by=${by}`)
      const found = await page.locator('table thead th').allInnerTexts()
      const rows = await page.locator('table tbody tr').allInnerTexts()
      await end()
      return { titles: found.join(' '), rows: rows.join('\n') }
    }
    const operator = await titles('admin', 'providerModel')
    expect(operator.titles).toMatch(/^Deployment .*Revenue Vendor cost Margin Cost unknown$/i)
    expect(operator.rows).toMatch(/claude-sonnet(?:.*€\d+\.\d{4}){3}\s+–/)
    expect(operator.rows).toMatch(/gpt-mini.*€0\.0000/)
    const customer = await titles('acme', 'providerModel')
    expect(customer.titles).toMatch(/^Model .*Cost$/i)
    expect(customer.titles).not.toMatch(/Vendor|Margin|Revenue/i)
  })

  const pages: [address: string, heading: string, content: string][] = [
    ['#/overview?range=30d', 'Overview', 'Top models'],
    ['#/usage?by=model', 'Usage', 'claude-sonnet'],
    ['#/requests?range=30d', 'Requests', 'Load more'],
    ['#/requests/{request}', 'Request', 'Attempts'],
    ['#/keys?state=all', 'Keys', 'acme backend'],
    ['#/models', 'Models', 'demo-video-landscape'],
    ['#/videos', 'Videos', 'No videos'],
    ['#/playground', 'Playground', 'Ask the model something'],
    ['#/setup', 'Set-up', 'curl'],
  ]
  const cases: [who: string, pages: typeof pages][] = [
    [
      'admin',
      [
        ...pages,
        ['#/audit?range=30d', 'Audit log', 'keys.create'],
        ['#/reconcile', 'Reconcile', 'Compare'],
        ['#/registry', 'Configuration', 'set in code'],
        ['#/accounts', 'Accounts', 'Globex Corporation'],
        ['#/accounts/acme', 'acme', 'monthly'],
        ['#/invoices', 'Invoices', 'globex'],
        ['#/invoices?account=acme', 'Invoice acme', 'Duplicate payment'],
      ],
    ],
    ['acme', [...pages, ['#/accounts', 'Account', 'Duplicate payment'], ['#/invoices', 'Invoices', 'Opening balance']]],
  ]

  test.each(cases)(
    '%s: each shows its content, without a fault and without an axe violation, light and dark',
    async (who, listed) => {
      const { page, go, faults, end } = await visit(browser, served.url, who)
      for (const [address, heading, content] of listed) {
        await go(address.replace('{request}', stage.requests.acme[3] ?? ''))
        await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
        await page.locator('main').getByText(content).filter({ visible: true }).first().waitFor()
        expect(await page.title()).toContain('Modelhatch')
        for (const colorScheme of who === 'admin' ? (['light', 'dark'] as const) : (['light'] as const)) {
          await page.emulateMedia({ colorScheme })
          expect(await violations(page), `${address} ${colorScheme}`).toEqual([])
        }
      }
      expect(faults).toEqual([])
      await end()
    },
  )

  test('what was asked and answered is shown where it is asked for, and asked again at another model', async () => {
    const { page, go, faults, end } = await visit(browser, served.url, 'admin')
    const response = await fetch(new URL('/ai/v1/chat/completions', served.url), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${stage.keys.acme}`,
        'content-type': 'application/json',
        'x-session-id': 'session-1',
      },
      body: JSON.stringify({ model: 'gpt-mini', messages: [{ role: 'user', content: 'What is a hatch?' }] }),
    })
    expect(response.status).toBe(200)
    await response.text()
    const id = response.headers.get('x-request-id') ?? ''
    const { admin } = stage.gateway
    await expect.poll(() => admin.content.counts().written).toBe(1)
    await expect.poll(() => admin.usage.find(id)).toBeDefined()
    const reads = async () =>
      (await admin.auditLog.list()).items.filter(({ action }) => action === 'content.read').length
    await go(`#/requests/${id}`)
    const asked = page.locator('main').getByText('What is a hatch?', { exact: true })
    await page.getByText('Each reading is noted').waitFor()
    expect([await asked.count(), await reads()]).toEqual([0, 0])
    await page.getByRole('button', { name: 'Show content' }).click()
    await asked.waitFor()
    expect(await reads()).toBe(1)
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Show session' }).click()
    await expect.poll(reads).toBe(2)
    await page.locator('main').getByLabel('Model').fill('gemini-flash')
    await page.getByRole('button', { name: 'Ask this model' }).click()
    await page.getByRole('list', { name: 'gemini-flash' }).waitFor()
    expect(faults).toEqual([])
    await end()
    const customer = await visit(browser, served.url, 'acme')
    await customer.go(`#/requests/${id}`)
    await customer.page.getByText('Attempts').first().waitFor()
    expect(await customer.page.getByText('Each reading is noted').count()).toBe(0)
    await customer.end()
  })

  test('a customer sees the navigation and rows of one account only', async () => {
    const { page, go, faults, end } = await visit(browser, served.url, 'acme')
    for (const [address] of pages.filter(([each]) => !each.includes('{'))) {
      await go(address)
      const text = (await page.locator('body').innerText()).toLowerCase()
      expect(text).not.toContain('globex')
      expect(text).not.toContain('overloaded')
    }
    for (const [address, said] of [
      [`#/requests/${stage.requests.globex[0]}`, 'No record of this request'],
      ['#/accounts/globex', 'No such resource.'],
    ] as const) {
      await go(address)
      await page.getByText(said).waitFor()
      expect(await page.locator('main').innerText()).not.toContain('Globex')
    }
    expect(faults).toEqual([])
    await end()
  })

  test('dialogs and forms have no axe violation, open by keyboard, close with Escape and give the focus back', async () => {
    const { page, go, faults, end } = await visit(browser, served.url, 'admin')
    const openers: [address: string, button: string][] = [
      ['#/keys', 'Create key'],
      ['#/keys', 'Rotate: acme backend'],
      ['#/keys', 'Revoke: acme backend'],
      ['#/accounts', 'Open account'],
      ['#/accounts', 'Audit'],
      ['#/accounts/acme', 'Top up'],
      ['#/accounts/acme', 'Edit'],
      ['#/playground', 'Temporary key'],
    ]
    for (const [address, name] of openers) {
      await go(address)
      const button = page.getByRole('button', { name, exact: true })
      await button.focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      await settled(page)
      expect(await violations(page), name).toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await expect.poll(() => button.evaluate((element) => element === document.activeElement)).toBe(true)
    }
    expect(faults).toEqual([])
    await end()
  })

  test('the keyboard reaches the content and the navigation; a new page has the focus on its heading', async () => {
    const { page, end } = await visit(browser, served.url, 'admin')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
    await page.getByRole('link', { name: 'Keys', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H1')
    expect(await page.locator('nav [aria-current=page]').innerText()).toBe('Keys')
    await end()
  })

  test('theme and language can be chosen and are kept; the browser decides at first', async () => {
    const { page, go, faults, end } = await visit(browser, served.url, 'admin', {
      locale: 'zh-CN',
      colorScheme: 'light',
    })
    await page.getByRole('heading', { name: '概览' }).waitFor()
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-Hans')
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    const light = await ground()
    await page.getByRole('button', { name: '深色主题' }).click()
    expect(await ground()).not.toBe(light)
    await page.getByRole('combobox', { name: '语言' }).selectOption('en')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(await ground()).not.toBe(light)
    await page.getByRole('combobox', { name: 'Language' }).selectOption('zh')
    for (const address of ['#/requests', '#/keys', '#/models', '#/accounts/acme', '#/playground']) {
      await go(address)
      expect(await violations(page), address).toEqual([])
    }
    expect(faults).toEqual([])
    await end()
  })

  test('the bundle of the package shows the same pages, in both languages', async () => {
    const document = { title: 'Modelhatch', gatewayUrl: '/ai' }
    const site = new Site(stage.gateway, { authorize }, document, async () =>
      assetsOf(await pageFiles({ minify: true })),
    )
    const packed = await serveSite('Express', stage.gateway, site)
    for (const [locale, heading, content] of [
      ['en-US', 'Overview', 'Top models'],
      ['zh-CN', '概览', '用量最高的模型'],
    ] as const) {
      const { page, go, faults, end } = await visit(browser, packed.url, 'admin', { locale })
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      await page.getByText(content).first().waitFor()
      for (const name of ['usage', 'requests', 'keys', 'accounts', 'models', 'videos', 'playground', 'setup']) {
        await go(`#/${name}`)
        expect(await page.getByRole('alert').count(), name).toBe(0)
      }
      expect(await violations(page)).toEqual([])
      expect(faults).toEqual([])
      await end()
    }
    await packed.close()
  })

  test('charts can be read as tables', async () => {
    const { page, go, end } = await visit(browser, served.url, 'admin')
    await go('#/overview?range=30d')
    const summary = await page.getByRole('img', { name: /^Requests over time/ }).getAttribute('aria-label')
    const total = Number(/ (\d+) in total$/.exec(summary ?? '')?.[1])
    expect(total).toBeGreaterThan(200)
    await page.getByRole('button', { name: 'Show as table: Requests' }).click()
    const rows = await page.getByRole('table', { name: 'Requests' }).getByRole('row').allInnerTexts()
    const counted = rows.slice(1).reduce((sum, row) => sum + Number(row.split('\t').at(-1)), 0)
    expect(counted).toBe(total)
    await end()
  })

  test('what fails says why, with the id of the request, and can be tried again', async () => {
    const { page, go, end } = await visit(browser, served.url, 'admin')
    await go('#/requests/req_unknown')
    await page.getByText('No record of this request').waitFor()
    await go('#/accounts/nobody')
    expect(await page.getByRole('alert').innerText()).toMatch(/Request id\s+req_[0-9a-f]{32}/)
    await page.context().setOffline(true)
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.getByText('The server cannot be reached.').waitFor()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('acme backend').waitFor()
    await go('#/playground')
    await page.context().setOffline(true)
    await page.getByLabel('Message').fill('Hi')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('The server cannot be reached.').waitFor()
    await end()
  })

  test('works on a phone: nothing is wider than the screen, and the menu opens', async () => {
    const { page, go, faults, end } = await visit(browser, served.url, 'admin', {
      viewport: { width: 360, height: 740 },
    })
    for (const [address] of pages) {
      await go(address.replace('{request}', stage.requests.acme[3] ?? ''))
      expect(await page.evaluate(() => document.documentElement.scrollWidth), address).toBeLessThanOrEqual(360)
    }
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('link', { name: 'Videos' }).click()
    await page.getByRole('heading', { name: 'Videos' }).waitFor()
    expect(await page.getByRole('link', { name: 'Keys', exact: true }).isVisible()).toBe(false)
    expect(faults).toEqual([])
    await end()
  })
})
