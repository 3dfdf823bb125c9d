import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasChromium, launch } from '../adapters/console/browser.ts'
import { runExample, type RunningExample } from './example.ts'

let example: RunningExample
let browser: Browser | undefined

beforeAll(async () => {
  example = await runExample('chat')
  if (hasChromium) browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  expect(await example.stop()).toBe(0)
})

/** The cookie of a new visitor. */
async function arrive() {
  const response = await fetch(example.baseURL)
  const [cookie = '', ...rules] = (response.headers.get('set-cookie') ?? '').split('; ')
  return { cookie, rules, policy: response.headers.get('content-security-policy') }
}

async function ask(cookie: string, fields: object = {}) {
  const response = await fetch(`${example.baseURL}/ai/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie },
    body: JSON.stringify({ model: 'assistant', messages: [{ role: 'user', content: 'Hello' }], ...fields }),
  })
  const body = (await response.json()) as { usage?: { completion_tokens: number }; error?: { code: string } }
  return { status: response.status, tokens: body.usage?.completion_tokens ?? 0, code: body.error?.code }
}

describe.skipIf(!hasChromium)('the page', () => {
  /** Opens the page as a new visitor. */
  async function open(): Promise<Page> {
    const page = (await browser?.newPage()) as Page
    await page.goto(example.baseURL)
    return page
  }
  const say = async (page: Page, text: string) => {
    await page.getByLabel('Message').fill(text)
    await page.getByRole('button', { name: 'Send' }).click()
  }

  test('shows an answer while it is written, and stops it', async () => {
    const page = await open()
    await say(page, 'Write a story of 3000 words')
    const answer = page.locator('.assistant')
    await expect.poll(async () => (await answer.innerText()).length).toBeGreaterThan(100)
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('button', { name: 'Send' }).waitFor()
    expect((await answer.innerText()).length).toBeLessThan(4_000)
    expect(await page.locator('.error').count()).toBe(0)
  })

  test('sends the conversation so far, and takes nothing in it for HTML', async () => {
    const page = await open()
    await say(page, 'My name is Ada.')
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await say(page, 'What is my name?')
    await expect.poll(() => page.locator('.assistant').last().innerText()).toContain('Ada')
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await say(page, 'Reply with exactly: <img src=x onerror=alert(1)>')
    await expect.poll(() => page.locator('.assistant').last().innerText()).toContain('<img')
    expect(await page.locator('img').count()).toBe(0)
  })

  test('says what has gone wrong, also in the middle of an answer, and goes on', async () => {
    const page = await open()
    await say(page, 'Break off after 5 words')
    await page.locator('.error').waitFor()
    await say(page, 'Fail with 500')
    await expect.poll(() => page.locator('.error').count()).toBe(2)
    await say(page, 'Reply with exactly: pong')
    await expect.poll(() => page.locator('.assistant').last().innerText()).toBe('pong')
  })
})

test('only visitors of the page reach the gateway, within limits that they cannot change', async () => {
  const { cookie, rules, policy } = await arrive()
  expect(rules).toEqual(expect.arrayContaining(['HttpOnly', 'SameSite=Lax']))
  expect(policy).toContain("default-src 'none'")
  expect(await ask('')).toMatchObject({ status: 401 })
  const story = { messages: [{ role: 'user', content: 'Write a story of 3000 words' }], max_completion_tokens: 9_000 }
  expect(await ask(cookie, story)).toMatchObject({ status: 200, tokens: 1_000 })
  expect(await ask(cookie, { user: 'x'.repeat(100_000) })).toMatchObject({ status: 413 })
  const statuses = await Promise.all(Array.from({ length: 12 }, async () => (await ask(cookie)).status))
  expect(statuses).toContain(429)
  expect((await ask((await arrive()).cookie)).status).toBe(200)
})
