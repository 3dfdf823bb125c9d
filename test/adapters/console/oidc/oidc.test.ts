import { serve as serveHono } from '@hono/node-server'
import express from 'express'
import { Hono } from 'hono'
import { createProxyMiddleware } from 'http-proxy-middleware'
import Koa from 'koa'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGateway, type Mountable } from 'modelhatch'
import { createConsole, type ConsoleOptions } from 'modelhatch/console'
import { mount as mountExpress } from 'modelhatch/express'
import { mount as mountFetch } from 'modelhatch/fetch'
import { mount as mountKoa } from 'modelhatch/koa'
import { mount as mountNode } from 'modelhatch/node'
import { signInByOidc, type OidcOptions, type SignIn } from 'modelhatch/oidc'
import { demo } from 'modelhatch/providers'
import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { sampleOf } from '../../../long.ts'
import { hasChromium, launch } from '../browser.ts'
import { clientSecret, openIssuer, person, type TestIssuer } from './issuer.ts'

const gateway = createGateway({ keys: { 'sk-test': {} }, models: { demo: demo() } })
const secrets = ['a secret of at least 32 characters']
const place = '/a/console'

/** Operators are admins, those of globex are an account, all others are nobody. */
const identify: OidcOptions['identify'] = ({ sub, email, groups }) => {
  if ((groups as string[]).includes('operators')) return { role: 'admin', name: String(email) }
  return sub.startsWith('globex') ? { role: 'account', account: 'globex' } : undefined
}

type Listen = (mounted: Mountable, port: number) => Server

const hosts: Readonly<Record<string, Listen>> = {
  Express: (mounted, port) => listening(express().use(place, mountExpress(mounted)), port),
  Koa: (mounted, port) => listening(new Koa().use(mountKoa(place, mounted)).callback(), port),
  Hono(mounted, port) {
    const handle = mountFetch(mounted, { prefix: place })
    const app = new Hono().all(`${place}/*`, (context) => handle(context.req.raw))
    return serveHono({ fetch: app.fetch, port, hostname: '127.0.0.1' }) as Server
  },
  'node:http': (mounted, port) => listening(mountNode(mounted), port),
}

function listening(listener: unknown, port: number): Server {
  return createServer({ keepAliveTimeout: 600_000 }, listener as RequestListener).listen(port, '127.0.0.1')
}

/** Known before anything listens there, because the issuer and the console name each other. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

interface Served {
  readonly url: string
  readonly issuer: TestIssuer
  readonly signIn: SignIn
  readonly errors: unknown[]
}

interface Given {
  readonly host?: keyof typeof hosts
  readonly options?: Partial<OidcOptions>
  readonly console?: Partial<ConsoleOptions>
  readonly client?: object
  /** Behind a proxy with another host and another path, which it changes. */
  readonly isProxied?: boolean
  /** Its client has no secret. */
  readonly isPublic?: boolean
}

async function serve(given: Given = {}): Promise<Served> {
  const issuer = await openIssuer()
  const port = await freePort()
  const address = `http://127.0.0.1:${port}${given.host === 'node:http' ? '' : place}/`
  const url = given.isProxied ? await proxied(address) : address
  issuer.register(url, given.client)
  const errors: unknown[] = []
  const signIn = signInByOidc({
    url,
    issuer: issuer.url,
    clientId: 'console',
    ...(!given.isPublic && { clientSecret }),
    secrets,
    identify,
    onError: (error) => errors.push(error),
    ...given.options,
  })
  const site = createConsole(gateway, { authorize: signIn.authorize, signIn, ...given.console })
  const server = (hosts[given.host ?? 'Express'] as Listen)(site, port)
  await opened(server)
  return { url, issuer, signIn, errors }
}

async function opened(server: Server): Promise<void> {
  onTestFinished(() => server.close().closeAllConnections())
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
}

/** The public address of a server behind a proxy. */
async function proxied(target: string): Promise<string> {
  const port = await freePort()
  const proxy = createProxyMiddleware({ target, changeOrigin: true })
  await opened(listening(express().use('/public/tools', proxy), port))
  return `http://localhost:${port}/public/tools/`
}

const roleOf = async (url: string, cookies: ReadonlyMap<string, string>) => {
  const headers = { cookie: `modelhatch_session=${cookies.get('modelhatch_session') ?? ''}` }
  const response = await fetch(`${url}api/me`, { headers })
  return response.status === 200 ? ((await response.json()) as { role: string; account?: string }) : response.status
}

const bare = (url: string, headers = {}) => fetch(url, { headers, redirect: 'manual' })

beforeAll(() => {
  // The provider recommends what an issuer for tests need not have.
  for (const level of ['warn', 'info'] as const) vi.spyOn(console, level).mockReturnValue()
})
afterEach(() => void vi.useRealTimers())

describe.each(sampleOf(Object.keys(hosts), 2))('in %s', (host) => {
  test('an operator signs in at the issuer, uses the console, and signs out here and there', async () => {
    const { url, issuer, errors } = await serve({ host })
    const ada = await person()
    const page = await ada.signIn(url, 'ada')
    expect([page.url, page.status]).toEqual([url, 200])
    expect(page.text).toContain('<meta name="sign-out" content="sign-out">')
    expect(await roleOf(url, await ada.cookies())).toMatchObject({ role: 'admin' })

    const ended = await ada.post(`${url}sign-out`)
    const { url: next } = (await ended.json()) as { url: string }
    expect(next).toMatch(new RegExp(`^${issuer.url}/session/end\\?`))
    expect(new URL(next).searchParams.get('post_logout_redirect_uri')).toBe(`${url}sign-out`)
    expect(new URL(next).searchParams.get('id_token_hint')).not.toBeNull()
    expect((await ada.cookies()).has('modelhatch_session')).toBe(false)
    const left = await ada.leave(next)
    expect([left.url, left.text]).toEqual([`${url}sign-out`, expect.stringContaining('You are signed out')])
    expect((await ada.open(url)).text).toContain('name="login"')
    expect(errors).toEqual([])
  })
})

test('behind a proxy that changes host and path, the browser sees only the public address', async () => {
  const { url } = await serve({ isProxied: true, console: { hosts: ['127.0.0.1', 'localhost'] } })
  const ada = await person()
  const page = await ada.signIn(url.slice(0, -1), 'ada')
  expect([page.url, page.status]).toEqual([url, 200])
  const { url: next } = (await (await ada.post(`${url}sign-out`)).json()) as { url: string }
  expect(new URL(next).searchParams.get('post_logout_redirect_uri')).toBe(`${url}sign-out`)
  expect((await ada.leave(next)).url).toBe(`${url}sign-out`)
})

describe('roles', () => {
  test('come from the claims, with the name for the audit log', async () => {
    const { url } = await serve()
    const customer = await person()
    expect((await customer.signIn(url, 'globex-bob')).status).toBe(200)
    expect(await roleOf(url, await customer.cookies())).toMatchObject({ role: 'account', account: 'globex' })
  })

  test('nobody: a page that says so, and leads to the form of the issuer again', async () => {
    const { url, issuer } = await serve()
    const eve = await person()
    const page = await eve.signIn(url, 'eve')
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('You have no access')])
    expect((await eve.cookies()).has('modelhatch_session')).toBe(false)
    // The issuer still knows her, and would not ask.
    expect((await eve.open(url)).status).toBe(403)
    expect(page.text).toContain('href="sign-in?again"')
    const again = await eve.open(`${url}sign-in?again`)
    expect([new URL(again.url).origin, again.text]).toEqual([issuer.url, expect.stringContaining('name="login"')])
  })

  test('that `identify` makes wrongly, or cannot find out, are the fault of the server', async () => {
    const failures: OidcOptions['identify'][] = [
      () => ({ role: 'boss' }) as never,
      () => Promise.reject(new Error('the directory is down')),
      () => ({ role: 'account', account: 'a', groups: Array.from({ length: 400 }, (_, at) => `group-${at}`) }),
    ]
    for (const failing of failures) {
      const { url, errors } = await serve({ options: { identify: failing } })
      const ada = await person()
      const page = await ada.signIn(url, 'ada')
      expect([page.status, page.text]).toEqual([500, expect.stringContaining('The sign-in has failed')])
      expect(page.text).not.toContain('directory')
      expect(errors).toHaveLength(1)
    }
  })

  test('an `authorize` that wants more than the session does not send the browser in circles', async () => {
    const { url } = await serve({ console: { authorize: () => undefined } })
    const page = await (await person()).signIn(url, 'ada')
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('You have no access')])
  })
})

describe('a sign-in that does not end well', () => {
  test('cancelled at the issuer', async () => {
    const { url, errors } = await serve()
    const ada = await person()
    const form = await ada.open(url)
    const [, abort = ''] = /href="([^"]+\/abort)"/.exec(form.text) ?? []
    const page = await ada.open(abort)
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('was cancelled')])
    expect((await ada.signIn(`${url}sign-in`, 'ada')).status).toBe(200)
    expect(errors).toEqual([])
  })

  test('in another browser, or later than ten minutes', async () => {
    const { url, errors } = await serve()
    const begun = await bare(`${url}sign-in`)
    const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? ''
    const [cookie = ''] = (begun.headers.get('set-cookie') ?? '').split(';')
    const answer = `${url}sign-in?code=any&state=${state}&iss=x`
    const expired = async (target: string, headers = {}) => {
      const response = await bare(target, headers)
      expect([response.status, await response.text()]).toEqual([
        400,
        expect.stringContaining('This sign-in has expired'),
      ])
    }
    await expired(answer)
    await expired(answer.replace(state, 'A'.repeat(43)), { cookie })
    await expired(answer, { cookie: `${cookie.slice(0, -3)}AAA` })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 601_000 })
    await expired(answer, { cookie })
    expect(errors).toEqual([])
  })

  test('with a code that was used already', async () => {
    const { url, errors } = await serve()
    const ada = await person()
    await ada.signIn(url, 'ada')
    const begun = await bare(`${url}sign-in`)
    // The issuer knows her now, and asks for nothing.
    const answer = await ada.step(begun.headers.get('location') ?? '')
    const [cookie = ''] = (begun.headers.get('set-cookie') ?? '').split(';')
    expect((await bare(answer, { cookie })).headers.get('location')).toBe(url)
    const second = await bare(answer, { cookie })
    expect([second.status, await second.text()]).toEqual([400, expect.stringContaining('This sign-in has expired')])
    expect(errors).toEqual([])
  })

  test('while the issuer is down, and again when it is back', async () => {
    const { url, issuer, errors } = await serve()
    await issuer.stop()
    const ada = await person()
    const page = await ada.open(url)
    expect([page.status, page.text]).toEqual([503, expect.stringContaining('The sign-in is not available')])
    expect(errors).toHaveLength(1)
    await issuer.listen()
    expect((await ada.signIn(url, 'ada')).status).toBe(200)
    await issuer.stop()
    const ended = await ada.post(`${url}sign-out`)
    expect(ended.status()).toBe(200)
    expect((await ada.cookies()).has('modelhatch_session')).toBe(false)
  })

  test('at an issuer that does not accept the secret of the client', async () => {
    const { url, errors } = await serve({ options: { clientSecret: 'another' } })
    const page = await (await person()).signIn(url, 'ada')
    expect([page.status, page.text]).toEqual([500, expect.stringContaining('do not understand each other')])
    expect(page.text).not.toContain('another')
    expect(errors).toHaveLength(1)
  })
})

describe('cookies', () => {
  test('are for the console alone, for scripts of no page, and with HTTPS for nothing else', async () => {
    const issuer = await openIssuer()
    const url = 'https://api.example.com/tools/console/'
    issuer.register(url)
    const signIn = signInByOidc({ url, issuer: issuer.url, clientId: 'console', clientSecret, secrets, identify })
    const exchange = { method: 'GET', target: '/sign-in', headers: {} } as never
    const begun = await signIn.visit(exchange)
    expect(begun.headers['set-cookie']?.split('; ').slice(1)).toEqual([
      'Max-Age=600',
      'Path=/tools/console/sign-in',
      'HttpOnly',
      'SameSite=Lax',
      'Secure',
    ])
    const ended = await signIn.signOut?.({ method: 'POST', target: '/sign-out', headers: {} } as never)
    expect(ended?.headers['set-cookie']).toBe(
      'modelhatch_session=; Max-Age=0; Path=/tools/console/; HttpOnly; SameSite=Lax; Secure',
    )
  })

  test('of pages that sign in at the same time all count', async () => {
    const { url } = await serve()
    const ada = await person()
    const forms = [await ada.open(url), await ada.open(url)]
    expect(forms.map(({ text }) => text.includes('name="login"'))).toEqual([true, true])
    for (const form of forms) expect((await ada.signIn(form.url, 'ada')).url).toBe(url)
  })

  test('that were changed are none; those of an older secret count until it is removed', async () => {
    const [old, next] = ['the old secret of at least 32 characters', 'the new secret of at least 32 characters']
    const { url, issuer, signIn } = await serve({ options: { secrets: [old] } })
    const ada = await person()
    await ada.signIn(url, 'ada')
    const session = (await ada.cookies()).get('modelhatch_session') ?? ''
    const ask = (by: SignIn, value: string) =>
      by.authorize({ headers: { cookie: `other=1; modelhatch_session=${value}` } } as never)
    const options = { url, issuer: issuer.url, clientId: 'console', clientSecret, identify }
    expect(ask(signIn, session)).toEqual({ role: 'admin', name: 'ada@example.com' })
    expect(ask(signIn, `${session.slice(0, -4)}AAAA`)).toBeUndefined()
    expect(ask(signIn, '')).toBeUndefined()
    expect(ask(signInByOidc({ ...options, secrets: [next, old] }), session)).toMatchObject({ role: 'admin' })
    expect(ask(signInByOidc({ ...options, secrets: [next] }), session)).toBeUndefined()
    expect(ask(signInByOidc({ ...options, clientId: 'other', secrets: [old] }), session)).toBeUndefined()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 8 * 3_600_000 - 60_000 })
    expect(ask(signIn, session)).toMatchObject({ role: 'admin' })
    vi.setSystemTime(Date.now() + 60_000)
    expect(ask(signIn, session)).toBeUndefined()
  })
})

test.skipIf(!hasChromium)('in a browser, from the console to the issuer, back, and out', async () => {
  const { url } = await serve()
  const browser = await launch()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto(url)
  await page.getByPlaceholder('Enter any login').fill('ada')
  await page.getByPlaceholder('and password').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('link', { name: 'Models' }).click()
  await page.getByRole('row', { name: 'demo' }).waitFor()
  expect(page.url()).toBe(`${url}#/models`)

  // The session ends elsewhere.
  const session = (await page.context().cookies()).find(({ name }) => name === 'modelhatch_session')
  await page.context().clearCookies({ name: 'modelhatch_session' })
  await page.getByRole('link', { name: 'Videos' }).click()
  await page.getByRole('link', { name: 'Sign in' }).click()
  // The issuer knows her still.
  await page.getByRole('button', { name: 'Sign out' }).click()
  expect(session?.httpOnly).toBe(true)
  await page.getByRole('button', { name: 'Yes' }).click()
  await page.getByText('You are signed out').waitFor()
  await page.getByRole('link', { name: 'Sign in again' }).click()
  await page.getByPlaceholder('Enter any login').waitFor()
})

test('a public client has no secret', async () => {
  const client = { client_secret: undefined, token_endpoint_auth_method: 'none' }
  const { url } = await serve({ client, isPublic: true })
  expect((await (await person()).signIn(url, 'ada')).status).toBe(200)
})

test('nobody is signed out by a page of another site', async () => {
  const { url } = await serve()
  const ada = await person()
  await ada.signIn(url, 'ada')
  expect((await ada.post(`${url}sign-out`, { 'sec-fetch-site': 'cross-site' })).status()).toBe(403)
  expect((await ada.open(`${url}sign-out`)).url).toBe(url)
  expect((await ada.cookies()).has('modelhatch_session')).toBe(true)
})

test('invalid options throw an error that names them, and no secret', () => {
  const valid = { url: 'https://a.example/c', issuer: 'https://i.example', clientId: 'c', secrets, identify }
  const invalid: [Record<string, unknown>, RegExp][] = [
    [{ url: '/console' }, /"url" must be the public address/],
    [{ url: undefined }, /"url"/],
    [{ issuer: 'http://login.example.com' }, /"issuer" must .* https/],
    [{ clientId: '' }, /"clientId"/],
    [{ clientSecret: '' }, /"clientSecret"/],
    [{ secrets: ['short'] }, /"secrets" must be a list of secrets of at least 32/],
    [{ secrets: [undefined] }, /is a variable unset/],
    [{ identify: undefined }, /"identify"/],
    [{ scope: 'email' }, /"scope" must have the word openid/],
    [{ sessionMs: 0 }, /"sessionMs"/],
    [{ issuerUrl: 'x' }, /unknown option "issuerUrl"/],
  ]
  for (const [change, message] of invalid) expect(() => signInByOidc({ ...valid, ...change })).toThrow(message)
  expect(() => signInByOidc(undefined as never)).toThrow('signInByOidc')
})
