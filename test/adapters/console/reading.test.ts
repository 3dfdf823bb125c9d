/** What the pages tell, and that no state of theirs is hidden or out of date. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { sqlite } from 'modelhatch/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, launch } from './browser.ts'
import type { StatisticsRow } from 'modelhatch'
import { openStage, serveConsole, type Served, type Stage } from './stage.ts'
import { settled, visit } from './visit.ts'

const hour = 3_600_000

describe.skipIf(!hasChromium)('a reader', () => {
  let browser: Browser
  let folder: string
  let stage: Stage
  let served: Served
  beforeAll(async () => {
    browser = await launch()
    folder = mkdtempSync(join(tmpdir(), 'console-'))
    stage = await openStage(sqlite(join(folder, 'gateway.db')), 120)
    served = await serveConsole('Express', stage.gateway)
  })
  afterAll(async () => {
    await browser?.close()
    await served?.close()
    await stage?.gateway.close({ graceMs: 0 })
    rmSync(folder, { recursive: true, force: true })
  })

  test('sees new requests after a refresh, however long the page has been open', async () => {
    const { page, go, end } = await visit(browser, served.url, 'admin')
    await page.clock.install({ time: Date.now() - 9 * hour })
    await go('#/requests?range=24h')
    const asked = () =>
      page.waitForRequest(/api\/requests\?/).then((request) => Number(new URL(request.url()).searchParams.get('to')))
    await page.clock.setSystemTime(Date.now())
    const until = asked()
    await page.getByRole('button', { name: 'Refresh' }).click()
    expect(await until).toBeGreaterThan(Date.now() - 60_000)
    await end()
  })

  test('sees each filter that is in effect, and can remove it', async () => {
    const { page, go, end } = await visit(browser, served.url, 'admin')
    await go('#/requests?range=30d&tag=team%3Anone')
    await page.getByText('No requests match').waitFor()
    await page.getByLabel('Tag').fill('')
    await page.getByRole('row').nth(1).waitFor()
    for (const name of ['Session', 'Key', 'User', 'Error code']) {
      await go(`#/requests?range=30d&${name === 'Error code' ? 'code' : name.toLowerCase()}=x`)
      expect(await page.getByLabel(name).inputValue()).toBe('x')
    }
    await end()
  })

  test('opens the other filters by keyboard, and goes on to them', async () => {
    const { page, go, end } = await visit(browser, served.url, 'admin')
    await go('#/requests')
    await page.getByRole('button', { name: 'More filters' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.type('service_unavailable')
    await expect.poll(() => page.url()).toContain('code=service_unavailable')
    expect(await page.getByLabel('Error code').evaluate((field) => field === document.activeElement)).toBe(true)
    await end()
  })

  test('keeps what is typed while a filter takes effect', async () => {
    const { page, go, end } = await visit(browser, served.url, 'admin')
    await go('#/requests?code=x')
    const field = page.getByLabel('Error code')
    await field.evaluate((input: HTMLInputElement) => {
      const type = () => {
        input.value += '_b'
        input.dispatchEvent(new Event('input', { bubbles: true }))
      }
      addEventListener('hashchange', type, { once: true })
    })
    await field.fill('a')
    await expect.poll(() => page.url()).toContain('code=a_b')
    expect(await field.inputValue()).toBe('a_b')
    await end()
  })

  test('sorts usage by a column, and sees the sums of all rows and of the range that is chosen', async () => {
    const { page, go, end } = await visit(browser, served.url, 'admin')
    await go('#/usage?by=model&range=30d')
    const column = async () => (await page.locator('tbody tr td:nth-of-type(1)').allInnerTexts()).map(whole)
    const whole = (text: string) => Number(text.replaceAll(',', ''))
    await page.getByRole('button', { name: 'Requests', exact: true }).click()
    const counts = await column()
    expect(counts).toEqual(counts.toSorted((left, right) => right - left))
    await page.getByRole('button', { name: 'Requests', exact: true }).click()
    expect(await column()).toEqual(counts.toReversed())
    const total = await page.locator('tfoot td').first().innerText()
    expect(whole(total)).toBe(counts.reduce((sum, count) => sum + count))
    await page.getByRole('button', { name: 'Own', exact: true }).click()
    await expect.poll(column).not.toEqual(counts.toReversed())
    const begins = new Date(Date.now() - 20 * 24 * hour).toJSON().slice(0, 10)
    await page.getByLabel('From').fill(begins)
    await expect.poll(() => page.url()).toContain('range=own')
    await expect
      .poll(async () => Number(/from=(\d+)/.exec(page.url())?.[1]))
      .toBe(new Date(`${begins}T00:00`).getTime())
    await end()
  })

  test('comes from a bar of a chart to the requests of its day', async () => {
    const { page, go, end } = await visit(browser, served.url, 'admin')
    await go('#/overview?range=30d')
    const plot = page.locator('.u-over').first()
    const { width = 0, height = 0 } = (await plot.boundingBox()) ?? {}
    await plot.hover({ position: { x: width / 2, y: height / 2 } })
    await page.locator('.plot-tooltip:visible').first().getByText('Total').waitFor()
    await plot.click({ position: { x: width / 2, y: height / 2 } })
    await page.getByRole('heading', { name: 'Requests' }).waitFor()
    await settled(page)
    const { from, to } = Object.fromEntries(new URLSearchParams(page.url().split('?')[1])) as Record<string, string>
    expect(Number(to) - Number(from)).toBe(24 * hour)
    expect(await page.getByRole('row').count()).toBeGreaterThan(1)
    await end()
  })

  test('comes from a row of usage to the requests of the same days', async () => {
    const { page, go, end } = await visit(browser, served.url, 'admin')
    const [from, to] = [Date.now() - 20 * 24 * hour, Date.now() - 10 * 24 * hour]
    await go(`#/usage?by=model&range=own&from=${from}&to=${to}`)
    await page.getByRole('link', { name: 'claude-sonnet' }).click()
    await page.getByRole('heading', { name: 'Requests' }).waitFor()
    const query = Object.fromEntries(new URLSearchParams(page.url().split('?')[1]))
    expect(query).toEqual({ model: 'claude-sonnet', range: 'own', from: String(from), to: String(to) })
    await end()
  })

  test('sees bars of whole hours of the own time zone, also of one that is half an hour off', async () => {
    const { page, go, end } = await visit(browser, served.url, 'admin', { timezoneId: 'Asia/Kolkata' })
    const answer = page.waitForResponse((response) => /usage\/series\?.*by=/.test(response.url()))
    await go('#/overview?range=7d')
    const response = await answer
    const { total } = (await response.json()) as { total: { at: number }[] }
    expect(total[0]?.at).toBe(Number(new URL(response.url()).searchParams.get('from')))
    await end()
  })

  test('reads names of keys wherever usage is divided by key', async () => {
    const id = stage.requests.acme[1] ?? ''
    const { page, go, end } = await visit(browser, served.url, 'acme')
    for (const address of ['#/usage?by=key', '#/overview?range=30d', `#/requests/${id}`]) {
      await go(address)
      await page.getByText('acme backend').first().waitFor()
      expect(await page.locator('main').innerText()).not.toContain('key_')
    }
    await end()
  })

  test('sees which part of the input vendors read from their caches, by model and by deployment', async () => {
    const { page, go, end } = await visit(browser, served.url, 'admin')
    await settled(page)
    for (const by of ['model', 'providerModel'] as const) {
      const answer = page.waitForResponse((response) => response.url().includes('api/usage?'))
      await go(`#/usage?by=${by}&range=30d`)
      const table = page.getByRole('table')
      await table.getByRole('row').nth(1).waitFor()
      const titles = await table.getByRole('columnheader').allInnerTexts()
      const place = titles.findIndex((title) => /^cache hits$/i.test(title))
      const rows = await table.locator('tbody tr').all()
      const shown = await Promise.all(
        rows.map(async (row) => {
          const cells = await row.locator('th, td').allInnerTexts()
          return [cells[0], cells[place]] as const
        }),
      )
      const { items: sums } = (await (await answer).json()) as { items: StatisticsRow[] }
      const expected = sums.map((sum) => {
        const part = sum.cachedTokens / sum.promptTokens
        const digits = part < 0.1 ? 1 : 0
        const text = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: digits }).format(part)
        return [sum[by] === '' ? 'None' : sum[by], sum.promptTokens === 0 ? '–' : text]
      })
      expect(new Map(shown)).toEqual(new Map(expected as [string, string][]))
      expect(shown.some(([, text]) => text?.endsWith('%') === true && text !== '0%')).toBe(true)
    }
    await end()
  })

  test('sees all columns of the request log at 1280 pixels', async () => {
    const { page, go, end } = await visit(browser, served.url, 'admin', { viewport: { width: 1_280, height: 800 } })
    await go('#/requests?range=30d')
    const table = page.getByRole('region', { name: 'Requests' })
    expect(await table.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
    await end()
  })

  test('sees the whole name of the language', async () => {
    const { page, end } = await visit(browser, served.url, 'admin')
    const room = await page.getByLabel('Language').evaluate((select) => {
      const copy = document.createElement('select')
      copy.append(new Option('English'))
      copy.style.cssText = 'position: absolute; width: auto; min-width: 0'
      select.after(copy)
      return select.clientWidth - copy.clientWidth
    })
    expect(room).toBeGreaterThanOrEqual(0)
    await end()
  })

  test('sees amounts with their points below each other, and times of one kind', async () => {
    const { page, go, end } = await visit(browser, served.url, 'admin', { timezoneId: 'Asia/Tokyo' })
    await go('#/accounts/acme')
    const times = await page.getByRole('rowheader').allInnerTexts()
    expect(times.every((time) => /, \d\d:\d\d$/.test(time))).toBe(true)
    expect(times.length).toBeGreaterThan(1)
    await go('#/requests?range=30d')
    const amounts = page.locator('tbody tr td:nth-last-child(3)')
    const digits = (texts: string[]) => new Set(texts.map((amount) => /\.(\d+)$/.exec(amount.trim())?.[1]?.length))
    expect(digits(await amounts.allInnerTexts()).size).toBeGreaterThan(1)
    expect(digits(await amounts.allTextContents())).toEqual(new Set([6]))
    await end()
  })

  test('is offered models of the kind to try, and one model to set clients up with', async () => {
    const { page, go, end } = await visit(browser, served.url, 'acme')
    await go('#/playground')
    for (const [kind, model] of [
      ['Image', 'demo-image'],
      ['Video', 'demo-video-landscape'],
      ['Chat', 'claude-sonnet'],
    ] as const) {
      await page.getByRole('button', { name: kind, exact: true }).click()
      await settled(page)
      expect(await page.getByLabel('Model', { exact: true }).inputValue()).toBe(model)
    }
    await go('#/setup')
    expect(await page.getByLabel('Model', { exact: true }).inputValue()).toBe('claude-sonnet')
    await end()
  })
})
