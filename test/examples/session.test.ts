import { afterAll, beforeAll, expect, test } from 'vitest'
import { runExample, type RunningExample } from './example.ts'

let example: RunningExample

beforeAll(async () => {
  example = await runExample('session')
})
afterAll(async () => {
  expect(await example.stop()).toBe(0)
})

/** A browser's part: logs in and keeps the cookie. */
async function logIn(name: string): Promise<{ cookie: string; setCookie: string }> {
  const body = new URLSearchParams({ name })
  const response = await fetch(`${example.baseURL}/login`, { method: 'POST', body, redirect: 'manual' })
  expect(response.status).toBe(302)
  const setCookie = response.headers.get('set-cookie') ?? ''
  return { cookie: setCookie.split(';')[0] ?? '', setCookie }
}

async function ask(model: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${example.baseURL}/ai/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Reply with exactly: pong' }] }),
  })
  const body = (await response.json()) as { choices?: { message: { content: string } }[]; error?: { code: string } }
  return { status: response.status, said: body.choices?.[0]?.message.content ?? body.error?.code }
}

test('a user with a session chats without an API key', async () => {
  const { cookie } = await logIn('ada')
  expect(await ask('demo', { cookie })).toEqual({ status: 200, said: 'pong' })
})

test('the user’s plan decides which models there are', async () => {
  const [ada, bob] = [await logIn('ada'), await logIn('bob')]
  expect(await ask('demo-large', { cookie: ada.cookie })).toEqual({ status: 200, said: 'pong' })
  expect(await ask('demo-large', { cookie: bob.cookie })).toEqual({ status: 404, said: 'model_not_found' })
})

test('without a session, with a forged one and after the logout the request is rejected', async () => {
  const rejected = { status: 401, said: 'invalid_api_key' }
  expect(await ask('demo')).toEqual(rejected)
  const { cookie } = await logIn('ada')
  expect(await ask('demo', { cookie: `${cookie.slice(0, -4)}AAAA` })).toEqual(rejected)
  const left = await fetch(`${example.baseURL}/logout`, { method: 'POST', headers: { cookie }, redirect: 'manual' })
  expect(left.status).toBe(302)
  expect(await ask('demo', { cookie })).toEqual(rejected)
})

test('other sites cannot use the cookie, scripts cannot read it, and a login changes the session', async () => {
  const { cookie, setCookie } = await logIn('ada')
  expect(setCookie).toMatch(/HttpOnly/i)
  expect(setCookie).toMatch(/SameSite=Strict/i)
  const body = new URLSearchParams({ name: 'eve' })
  const again = await fetch(`${example.baseURL}/login`, {
    method: 'POST',
    body,
    headers: { cookie },
    redirect: 'manual',
  })
  expect(again.headers.get('set-cookie')).toBeTruthy()
  expect(again.headers.get('set-cookie')).not.toContain(cookie)
  expect(await ask('demo', { cookie })).toEqual({ status: 401, said: 'invalid_api_key' })
})

test('each user has limits of their own', async () => {
  const { cookie } = await logIn('carol')
  let served = 0
  // The limit refills by one every three seconds while they are sent.
  while ((await ask('demo', { cookie })).status === 200 && served < 200) served++
  expect(served).toBeGreaterThanOrEqual(20)
  expect(served).toBeLessThan(200)
  expect((await ask('demo', { cookie: (await logIn('dave')).cookie })).status).toBe(200)
})

test('the page is a login, then a chat', async () => {
  const page = async (headers: Record<string, string> = {}) => (await fetch(example.baseURL, { headers })).text()
  expect(await page()).toContain('Log in')
  expect(await page({ cookie: (await logIn('ada')).cookie })).toContain('/ai/v1/chat/completions')
})
