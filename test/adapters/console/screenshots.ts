/** Pictures of each page of the console, light and dark, in Chinese and on a phone: `npm run screenshots [-- <folder> [<part of a name>]]`. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContextOptions } from 'playwright-core'
import { sqlite } from 'modelhatch/sqlite'
import { launch } from './browser.ts'
import { openStage, serveConsole } from './stage.ts'

const folder = process.argv[2] ?? join(tmpdir(), 'modelhatch-screenshots')
const only = process.argv[3]
mkdirSync(folder, { recursive: true })

const data = mkdtempSync(join(tmpdir(), 'console-'))
const storage = sqlite(join(data, 'gateway.db'))
const stage = await openStage(storage, 3_000)
const served = await serveConsole('Express', stage.gateway)
const { gateway, keys } = stage
const { accounts, keys: allKeys } = gateway.admin
await accounts.topUp({ account: 'acme', amount: '3', reference: 'welcome', expiresAt: Date.now() + 9 * 86_400_000 })
await accounts.allow({ account: 'acme', amount: '20', reference: 'plan' })
await allKeys.create({
  account: 'acme',
  group: 'standard',
  name: 'the-department-that-writes-letters-to-customers-in-all-countries',
})

/** Real calls, so that there are attempts, ledger entries and videos. */
const api = `${new URL(served.url).origin}/ai/v1`
const call = (path: string, body: unknown) =>
  fetch(`${api}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.acme}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const answered = await call('chat/completions', {
  model: 'steady',
  messages: [{ role: 'user', content: 'Count from 1 to 40' }],
})
const request = answered.headers.get('x-request-id') ?? ''
await answered.text()
await (
  await call('videos', { model: 'demo-video-landscape', prompt: 'A kite over the dunes at sunset', seconds: '5' })
).text()
await new Promise((resolve) => setTimeout(resolve, 2_500))

/** `act`: what is clicked on the page. */
const pages: [name: string, who: string, address: string, act?: string][] = [
  ['overview', 'admin', '#/overview?range=30d'],
  ['usage', 'admin', '#/usage?by=model'],
  ['usage-by-key', 'admin', '#/usage?by=key'],
  ['requests', 'admin', '#/requests'],
  ['requests-filters', 'admin', '#/requests?account=acme&tag=team%3Asearch&range=30d&outcome=failed'],
  ['requests-empty', 'admin', '#/requests?code=none'],
  ['request', 'admin', `#/requests/${request}`],
  ['request-unknown', 'admin', '#/requests/req_0'],
  ['keys', 'admin', '#/keys?state=all'],
  ['key-create', 'admin', '#/keys', '.actions .primary'],
  ['key-revoke', 'admin', '#/keys', '.row-actions button:last-child'],
  ['accounts', 'admin', '#/accounts'],
  ['account', 'admin', '#/accounts/acme'],
  ['account-top-up', 'admin', '#/accounts/acme', '.actions .primary'],
  ['invoices', 'admin', '#/invoices'],
  ['invoice', 'admin', '#/invoices?account=acme'],
  ['reconcile', 'admin', '#/reconcile', 'form .primary'],
  ['models', 'admin', '#/models'],
  ['videos', 'admin', '#/videos'],
  ['video', 'admin', '#/videos', 'th button'],
  ['playground', 'admin', '#/playground'],
  ['playground-image', 'admin', '#/playground?kind=image'],
  ['setup', 'admin', '#/setup'],
  ['customer-overview', 'acme', '#/overview?range=30d'],
  ['customer-keys', 'acme', '#/keys'],
  ['customer-account', 'acme', '#/accounts'],
  ['customer-invoice', 'acme', '#/invoices'],
]

/** In the order of the names of the pictures: how the page is shown. */
const views: readonly [name: string, options: BrowserContextOptions][] = [
  ['light', { colorScheme: 'light', viewport: { width: 1_280, height: 800 } }],
  ['dark', { colorScheme: 'dark', viewport: { width: 1_280, height: 800 } }],
  ['zh', { locale: 'zh-CN', viewport: { width: 1_280, height: 800 } }],
  ['phone', { colorScheme: 'light', viewport: { width: 390, height: 844 } }],
]

const browser = await launch()
try {
  for (const [view, options] of views) {
    for (const [name, who, address, act] of pages) {
      if (only !== undefined && !`${name}-${view}`.includes(only)) continue
      const context = await browser.newContext(options)
      await context.addCookies([{ name: 'who', value: who, url: served.url }])
      const page = await context.newPage()
      page.on('console', (message) => message.type() === 'error' && console.error(name, message.text()))
      page.on('pageerror', (error) => console.error(name, error))
      await page.goto(served.url + address)
      await page.waitForLoadState('networkidle')
      if (act !== undefined) await page.locator(act).first().click()
      if (name === 'playground') {
        await page.locator('.filters input[type=password]').fill(keys.acme)
        await page.locator('.chat textarea').last().fill('Write a story of 60 words')
        await page.keyboard.press('Enter')
        await page.getByText('req_').waitFor()
      }
      await page.waitForTimeout(400)
      await page.screenshot({ path: join(folder, `${name}-${view}.png`), fullPage: act === undefined })
      await context.close()
    }
  }
} finally {
  await browser.close()
  await served.close()
  await gateway.close({ graceMs: 0 })
  rmSync(data, { recursive: true, force: true })
}
console.log(`The pictures are in ${folder}`)
