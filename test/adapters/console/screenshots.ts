/** Pictures of each page of the console, light and dark: `npm run screenshots [-- <folder>]`. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

const pages: [name: string, who: string, address: string, act?: string][] = [
  ['overview', 'admin', '#/overview?range=30d'],
  ['usage', 'admin', '#/usage?by=model'],
  ['requests', 'admin', '#/requests'],
  ['request', 'admin', `#/requests/${request}`],
  ['keys', 'admin', '#/keys?state=all'],
  ['key-create', 'admin', '#/keys', 'Create key'],
  ['accounts', 'admin', '#/accounts'],
  ['account', 'admin', '#/accounts/acme'],
  ['account-top-up', 'admin', '#/accounts/acme', 'Top up'],
  ['models', 'admin', '#/models'],
  ['videos', 'admin', '#/videos'],
  ['video', 'admin', '#/videos', 'A kite over'],
  ['playground', 'admin', '#/playground'],
  ['setup', 'admin', '#/setup'],
  ['customer-overview', 'acme', '#/overview?range=30d'],
  ['customer-account', 'acme', '#/accounts'],
]

const browser = await launch()
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [name, who, address, act] of pages) {
      if (only !== undefined && !name.includes(only)) continue
      const context = await browser.newContext({ colorScheme, viewport: { width: 1_360, height: 860 } })
      await context.addCookies([{ name: 'who', value: who, url: served.url }])
      const page = await context.newPage()
      page.on('console', (message) => message.type() === 'error' && console.error(name, message.text()))
      page.on('pageerror', (error) => console.error(name, error))
      await page.goto(served.url + address)
      await page.waitForLoadState('networkidle')
      if (act !== undefined) await page.getByRole('button', { name: act }).first().click()
      if (name === 'playground') {
        await page.getByLabel('API key').fill(keys.acme)
        await page.getByLabel('Message').fill('Write a story of 60 words')
        await page.getByRole('button', { name: 'Send' }).click()
        await page.getByText('req_').waitFor()
      }
      await page.waitForTimeout(400)
      await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`), fullPage: act === undefined })
      await context.close()
    }
  }
  const context = await browser.newContext({ viewport: { width: 390, height: 800 }, locale: 'zh-CN' })
  await context.addCookies([{ name: 'who', value: 'admin', url: served.url }])
  const page = await context.newPage()
  for (const name of ['overview', 'requests']) {
    await page.goto(`${served.url}#/${name}`)
    await page.waitForLoadState('networkidle')
    await page.waitForTimeout(400)
    await page.screenshot({ path: join(folder, `${name}-phone-zh.png`), fullPage: true })
  }
} finally {
  await browser.close()
  await served.close()
  await gateway.close({ graceMs: 0 })
  rmSync(data, { recursive: true, force: true })
}
console.log(`The pictures are in ${folder}`)
