import { createHmac } from 'node:crypto'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { hasChromium, launch } from '../adapters/console/browser.ts'
import { runExample, type RunningExample } from './example.ts'

const secret = 'secret of the payment service'
let example: RunningExample
let origin: string

beforeAll(async () => {
  example = await runExample('saas', { WEBHOOK_SECRET: secret })
  origin = new URL(example.baseURL).origin
})
afterAll(async () => {
  expect(await example.stop()).toBe(0)
})

/** Sends a form as a browser does from a page of the service. */
async function send(path: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) {
  const response = await fetch(origin + path, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { 'sec-fetch-site': 'same-origin', ...headers },
    redirect: 'manual',
  })
  const [cookie = '', ...rules] = (response.headers.get('set-cookie') ?? '').split('; ')
  return { status: response.status, location: response.headers.get('location') ?? '', cookie, rules }
}

/** Signs a customer up and returns the cookie. */
async function signUp(email: string): Promise<string> {
  const { status, cookie } = await send('/sign-up', { email, password: 'correct horse battery' })
  expect(status).toBe(303)
  return cookie
}

interface Delivery {
  readonly signedWith?: string
  readonly ageSeconds?: number
  /** What is sent in place of what was signed. */
  readonly sent?: string
}

/** Delivers a webhook as the payment service does. */
async function deliver(data: object, { signedWith = secret, ageSeconds = 0, sent }: Delivery = {}): Promise<number> {
  const body = JSON.stringify({ type: 'checkout.completed', data })
  const time = Math.floor(Date.now() / 1000) - ageSeconds
  const signature = createHmac('sha256', signedWith).update(`${time}.${body}`).digest('hex')
  const headers = { 'content-type': 'application/json', 'payment-signature': `t=${time},v1=${signature}` }
  return (await fetch(`${origin}/webhooks/payments`, { method: 'POST', headers, body: sent ?? body })).status
}

async function me(cookie: string): Promise<{ account: string; balance: number }> {
  const read = async (path: string) =>
    (await (await fetch(`${origin}/console/api/${path}`, { headers: { cookie } })).json()) as Record<string, string>
  const { account = '' } = await read('me')
  return { account, balance: Number((await read(`accounts/${account}`))['balance']) }
}

describe('a customer', () => {
  test.skipIf(!hasChromium)('signs up, pays, makes a key in the console, and calls a model with it', async () => {
    const browser = await launch()
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    await page.goto(origin)
    await page.getByLabel('E-mail').fill('ada@example.com')
    await page.getByLabel('Password').fill('correct horse battery')
    await page.getByRole('button', { name: 'Sign up' }).click()
    await page.getByRole('button', { name: 'Buy credit' }).click()
    await page.getByRole('button', { name: 'Pay' }).click()
    await page.getByText('Your balance: 10 EUR').waitFor()
    await page.getByRole('link', { name: 'Keys and usage' }).click()
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click()
    const apiKey = await page.locator('#new-key').innerText()
    const client = new OpenAI({ apiKey, baseURL: `${origin}/ai/v1`, maxRetries: 0 })
    const messages = [{ role: 'user' as const, content: 'Reply with exactly: pong' }]
    const { choices } = await client.chat.completions.create({ model: 'demo', messages })
    expect(choices[0]?.message.content).toBe('pong')
    await page.goto(origin)
    await page.getByText('Your balance: 9.99').waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('button', { name: 'Sign up' }).waitFor()
    // The console leads to the log-in.
    await page.goto(`${origin}/console/`)
    await page.getByRole('button', { name: 'Log in' }).waitFor()
  })

  test('logs in again with the password only, and reaches no other account', async () => {
    const bob = await signUp('bob@example.com')
    const carol = await signUp('carol@example.com')
    const wrong = { email: 'bob@example.com', password: 'another password' }
    expect((await send('/log-in', wrong)).status).toBe(400)
    expect((await send('/sign-up', wrong)).status).toBe(400)
    expect((await send('/log-in', { email: 'nobody@example.com', password: 'another password' })).status).toBe(400)
    const again = await send('/log-in', { email: 'bob@example.com', password: 'correct horse battery' })
    expect([again.status, again.cookie === bob]).toEqual([303, false])
    expect((await me(again.cookie)).account).toBe((await me(bob)).account)
    const { account } = await me(carol)
    expect((await fetch(`${origin}/console/api/accounts/${account}`, { headers: { cookie: bob } })).status).toBe(404)
  })
})

describe('a payment', () => {
  test('counts once, however often the service reports it', async () => {
    const cookie = await signUp('dan@example.com')
    const { location } = await send('/checkout', { amount: '50' }, { cookie })
    expect(location).toMatch(/^\/pay\//)
    for (let times = 0; times < 2; times++) expect((await send(location)).status).toBe(303)
    const { account, balance } = await me(cookie)
    expect(balance).toBe(50)
    const id = location.slice('/pay/'.length)
    expect(await deliver({ id, account, amount: '50' })).toBe(204)
    // One checkout with two amounts is a fault of the payment service.
    expect(await deliver({ id, account, amount: '51' })).toBe(409)
    expect((await me(cookie)).balance).toBe(50)
  })

  test('counts only with a recent signature of exactly this event', async () => {
    const cookie = await signUp('eve@example.com')
    const { account } = await me(cookie)
    const data = { id: 'forged', account, amount: '1000' }
    expect(await deliver(data, { signedWith: 'guess' })).toBe(403)
    expect(await deliver(data, { ageSeconds: 600 })).toBe(403)
    expect(
      await deliver(data, { sent: JSON.stringify({ type: 'checkout.completed', data }).replace('00', '99') }),
    ).toBe(403)
    const bare = await fetch(`${origin}/webhooks/payments`, { method: 'POST', body: '{}' })
    expect(bare.status).toBe(403)
    expect((await me(cookie)).balance).toBe(0)
  })

  test('has an amount of the price list, and a customer', async () => {
    const cookie = await signUp('fay@example.com')
    expect((await send('/checkout', { amount: '0.01' }, { cookie })).status).toBe(400)
    expect((await send('/checkout', { amount: '10' })).status).toBe(401)
    expect((await send('/pay/unknown')).status).toBe(404)
  })
})

test('forms of other sites are refused, and scripts do not see the cookie', async () => {
  const { cookie, rules } = await send('/sign-up', { email: 'gus@example.com', password: 'correct horse battery' })
  expect(rules).toEqual(expect.arrayContaining(['HttpOnly', 'SameSite=Lax']))
  for (const site of ['cross-site', 'same-site', 'none']) {
    expect((await send('/checkout', { amount: '10' }, { cookie, 'sec-fetch-site': site })).status).toBe(403)
  }
  const plain = await fetch(`${origin}/log-out`, { method: 'POST', headers: { cookie }, redirect: 'manual' })
  expect(plain.status).toBe(403)
  const { headers } = await fetch(origin)
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
})
