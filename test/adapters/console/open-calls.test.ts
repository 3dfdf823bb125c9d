/** Requests in progress on the page of the request log. */
import type { Browser } from 'playwright-core'
import { createGateway } from 'modelhatch'
import { defineProvider, finish, text } from 'modelhatch/providers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hasChromium, launch } from './browser.ts'
import { serveConsole } from './stage.ts'
import { violations, visit } from './visit.ts'

let browser: Browser
beforeAll(async () => {
  if (hasChromium) browser = await launch()
})
afterAll(() => browser?.close())

/** A model that writes a little, and the rest when the test says so. */
async function opened() {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const provider = defineProvider({
    name: 'vendor',
    async *generate() {
      yield text('forty bytes of text, of ten tokens or so')
      await ended
      yield finish('stop', { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 })
    },
  })
  const gateway = createGateway({
    models: { slow: provider },
    keys: { 'sk-acme': { account: 'acme', group: 'default' }, 'sk-globex': { account: 'globex', group: 'default' } },
    usage: { record: true },
  })
  const served = await serveConsole('Express', gateway)
  const call = (key: string) =>
    fetch(new URL('/ai/v1/chat/completions', served.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'slow', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
    })
  const close = async () => {
    await served.close()
    await gateway.close({ graceMs: 0 })
  }
  return { url: served.url, call, end, close }
}

test.skipIf(!hasChromium)(
  'are shown with an age that grows, and go to the log by themselves when they end',
  async () => {
    const { url, call, end, close } = await opened()
    const responses = [await call('sk-acme'), await call('sk-globex')]
    const { page, go, faults, end: leave } = await visit(browser, url, 'admin')
    await go('#/requests')
    const open = page.getByRole('table', { name: 'Open calls' })
    await page.getByText('Only those of the process that answered this page').waitFor()
    const [, first = ''] = await open.getByRole('row').allInnerTexts()
    expect(first).toMatch(/^req_.*Responding\s+slow\s+acme\s.*vendor slow\s+\d+ → 10\s+\d+ s$/s)
    const age = () => open.locator('tbody tr').first().locator('td').last().innerText()
    const before = await age()
    await expect.poll(age).not.toBe(before)
    expect(await violations(page)).toEqual([])
    await go('#/requests?account=globex')
    expect(await open.locator('tbody tr').count()).toBe(1)
    const customer = await visit(browser, url, 'acme')
    await customer.go('#/requests')
    const rows = customer.page.getByRole('table', { name: 'Open calls' }).locator('tbody tr')
    expect(await rows.count()).toBe(1)
    expect(await rows.innerText()).not.toContain('vendor')
    await customer.end()
    end()
    await Promise.all(responses.map((response) => response.text()))
    await open.waitFor({ state: 'detached' })
    expect(faults).toEqual([])
    await leave()
    await close()
  },
)
