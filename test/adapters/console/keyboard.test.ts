/** Every action by the keyboard alone: what has the focus is seen, and each place is reached with Tab. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { sqlite } from 'modelhatch/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, launch } from './browser.ts'
import { openStage, serveConsole, type Served, type Stage } from './stage.ts'
import { visit, type Visit } from './visit.ts'

/** Runs in the page: the name of what has the focus, and whether it is seen to have it. */
function focusIn() {
  const focused = document.activeElement as HTMLElement
  const { labels } = focused as HTMLInputElement
  const text = focused.matches('input, select, textarea') ? labels?.[0]?.textContent : focused.textContent
  const { outlineStyle, outlineWidth } = getComputedStyle(focused)
  const name = focused.getAttribute('aria-label') ?? text ?? ''
  // The parts of these inside the browser have an outline of their own.
  const hasParts = focused.matches('input[type=datetime-local], video') && !focused.matches(':focus-visible')
  const isSeen = hasParts || (outlineStyle !== 'none' && outlineWidth !== '0px')
  return { name: name.trim(), tag: focused.localName, isSeen }
}

describe.skipIf(!hasChromium)('by keyboard alone', () => {
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

  /** Goes on with Tab until what is named has the focus. */
  async function to(name: string): Promise<void> {
    const passed: string[] = []
    for (let steps = 0; steps < 120; steps++) {
      await page.keyboard.press('Tab')
      const focus = await page.evaluate(focusIn)
      if (focus.tag !== 'body') expect(focus, `${name} after ${passed.at(-1)}`).toMatchObject({ isSeen: true })
      if (focus.name === name) return
      passed.push(focus.name)
    }
    throw new Error(`"${name}" was not reached, only ${[...new Set(passed)].join(', ')}`)
  }
  /** A new page has the focus on its heading. */
  const arrived = (heading: string) =>
    expect.poll(() => page.evaluate(focusIn)).toMatchObject({ name: heading, tag: 'h1' })
  async function press(name: string): Promise<void> {
    await to(name)
    await page.keyboard.press('Enter')
  }
  async function fill(name: string, text: string): Promise<void> {
    await to(name)
    await page.keyboard.press('Control+A')
    await page.keyboard.type(text)
  }

  test('a key is created, copied, changed, rotated and revoked', async () => {
    await admin.go('#/overview')
    await press('Keys')
    await arrived('Keys')
    await press('Create key')
    await fill('Account', 'acme')
    await fill('Name', 'typed')
    await to('Group')
    await page.keyboard.type('trial')
    await press('Limits')
    await fill('Requests', '30/min')
    await page.keyboard.press('Enter')
    await page.locator('#new-key').waitFor()
    await press('Copy')
    await press('I have stored it')
    await page.getByText('30 requests/min', { exact: true }).waitFor()
    await press('Edit: typed')
    await fill('Name', 'renamed')
    await page.keyboard.press('Enter')
    await page.getByText('Saved').waitFor()
    await press('Rotate: renamed')
    await page.getByRole('dialog').waitFor()
    await press('Rotate')
    await page.locator('#new-key').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('#new-key').waitFor({ state: 'detached' })
    await press('Revoke: renamed')
    await page.getByRole('dialog').waitFor()
    await press('Revoke')
    await page.getByText('The key is revoked').waitFor()
    const { items } = await stage.gateway.admin.keys.search({ text: 'renamed' })
    expect(items).toMatchObject([{ group: 'trial' }, { group: 'trial' }])
    expect(items.filter(({ revokedAt }) => revokedAt !== undefined)).toHaveLength(1)
  })

  test('an account is opened, paid for, and its cap is changed', async () => {
    await admin.go('#/accounts')
    await press('Open account')
    await fill('Account id', 'typed-account')
    await page.keyboard.press('Enter')
    await arrived('typed-account')
    await press('Top up')
    await fill('Amount (EUR)', '12.5')
    await page.keyboard.press('Enter')
    await expect
      .poll(() => stage.gateway.admin.accounts.find('typed-account'))
      .toMatchObject({ balance: '12.5', unlimited: false })
    await admin.go('#/accounts/acme')
    await press('Edit: daily')
    await fill('Requests', '1500')
    await page.keyboard.press('Enter')
    await page.getByText('/ 1,500').waitFor()
  })

  test('requests are filtered, opened and refunded', async () => {
    const id = stage.requests.acme.at(-1) ?? ''
    await admin.go('#/requests?range=30d')
    await to('Outcome')
    await page.keyboard.type('Completed')
    await expect.poll(() => page.url()).toContain('outcome=completed')
    await fill('Request id', id)
    await page.keyboard.press('Enter')
    await arrived('Request')
    await page.getByText(id).first().waitFor()
    await press('Copy')
    await press('Requests')
    await arrived('Requests')
  })

  test('a chat is streamed, a video made and deleted, theme and language chosen', async () => {
    await admin.go('#/playground')
    await fill('API key', stage.keys.acme)
    await fill('Message', 'Count from 1 to 12')
    await page.keyboard.press('Enter')
    await page
      .locator('.conversation .assistant')
      .getByText(/11, 12/)
      .waitFor()
    await press('Video')
    await page.getByLabel('Model').waitFor()
    await fill('Prompt', 'A typed kite')
    await press('Generate')
    await page.getByRole('button', { name: 'Show the video' }).waitFor({ timeout: 20_000 })
    await press('Videos')
    await arrived('Videos')
    await press('A typed kite')
    await press('Delete')
    await page.getByRole('heading', { name: 'Delete video' }).waitFor()
    await press('Delete')
    await page.getByText('No videos').waitFor()
    await press('Dark theme')
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark')
    await to('Language')
    await page.keyboard.press('ArrowDown')
    await page.getByRole('heading', { level: 1, name: '视频' }).waitFor()
    expect(admin.faults).toEqual([])
  })
})
